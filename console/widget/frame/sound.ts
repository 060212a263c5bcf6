const seconds = 0.25
const hertz = 660
const volume = 0.08

let context: AudioContext | undefined

/** Plays a short tone. Browsers allow none before the visitor has used the chat. */
export function playTone(): void {
  if (!navigator.userActivation?.hasBeenActive) return
  context ??= new AudioContext()
  const [tone, gain, now] = [context.createOscillator(), context.createGain(), context.currentTime]
  tone.frequency.value = hertz
  gain.gain.setValueAtTime(volume, now)
  gain.gain.exponentialRampToValueAtTime(0.001, now + seconds)
  tone.connect(gain).connect(context.destination)
  tone.start(now)
  tone.stop(now + seconds)
}
