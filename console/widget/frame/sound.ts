/** A short tone of a sound. */
interface Tone {
  hertz: number
  /** From the start of the sound. */
  seconds: number
}

const toneSeconds = 0.25
const volume = 0.1
const gestures = ['pointerup', 'keydown'] as const

/** A sound that a page plays when something has happened, once the person has used the page. */
interface Sound {
  /** Has to be called in the handler of a gesture. Gestures that reach the page call it. */
  prepare(): void
  /** Plays the sound, if it is prepared. */
  play(): void
}

/**
 * Safari begins to play only in the handler of a gesture, which may be minutes before: each gesture prepares the sound until
 * one has.
 *
 * @param isWanted is asked at each gesture
 */
export function openSound(tones: Tone[], isWanted: () => boolean): Sound {
  let context: AudioContext | undefined
  let playing = 0

  async function prepare(): Promise<void> {
    if (!isWanted()) return
    context ??= new AudioContext()
    // Unsettled where the browser does not count the gesture.
    await context.resume()
    for (const gesture of gestures) removeEventListener(gesture, prepareAtGesture)
    // A context that runs costs processor time also while it is silent.
    if (playing === 0) void context.suspend()
  }
  const prepareAtGesture = () => void prepare()
  for (const gesture of gestures) addEventListener(gesture, prepareAtGesture)

  function play(): void {
    if (!context) return
    const audio = context
    void audio.resume()
    for (const { hertz, seconds } of tones) {
      const begin = audio.currentTime + seconds
      const tone = new OscillatorNode(audio, { frequency: hertz })
      const gain = new GainNode(audio, { gain: 0 })
      gain.gain.setValueAtTime(volume, begin)
      gain.gain.exponentialRampToValueAtTime(0.001, begin + toneSeconds)
      tone.connect(gain).connect(audio.destination)
      tone.start(begin)
      tone.stop(begin + toneSeconds)
      playing++
      tone.addEventListener('ended', () => {
        if (--playing === 0) void audio.suspend()
      })
    }
  }

  return { prepare: prepareAtGesture, play }
}
