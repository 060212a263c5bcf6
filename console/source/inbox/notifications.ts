import { navigate } from '../state/route.ts'
import { storedFlag } from '../state/stored-flag.ts'

/** Whether news of the inbox play a sound, and whether the browser shows them: both off until chosen, per browser. */
export const hasSound = storedFlag('isobot.inbox.sound')
export const showsNotifications = storedFlag('isobot.inbox.notifications')

/** Something that a member wants to learn of: a conversation waits, or a user has written. */
export interface News {
  /** Identifies it among the tabs of the browser, of which one announces it. */
  id: string
  title: string
  text: string
  /** The address of the conversation. */
  href: string
}

/**
 * Announces news by the means that the member has chosen.
 *
 * @param isSeen whether the page is visible, so that the browser has no need to show them
 */
export function announce(news: News, isSeen: boolean): void {
  if (hasSound.value && isFirstTab(news.id)) playSound()
  if (isSeen || !showsNotifications.value || permission() !== 'granted') return
  const shown = new Notification(news.title, { body: news.text, tag: news.id })
  shown.addEventListener('click', () => {
    window.focus()
    navigate(news.href)
    shown.close()
  })
}

/** The browser's permission; `unsupported` where pages cannot notify, as without TLS. */
export function permission(): NotificationPermission | 'unsupported' {
  return 'Notification' in window ? Notification.permission : 'unsupported'
}

/** Turns notifications on, for which the browser asks the member. It has to be called in the handler of a click. */
export async function askForNotifications(): Promise<void> {
  showsNotifications.value = permission() !== 'unsupported' && (await Notification.requestPermission()) === 'granted'
}

let audio: AudioContext | undefined

/** Two short tones. Browsers play them once the member has used the page. */
export function playSound(): void {
  audio ??= new AudioContext()
  void audio.resume()
  for (const [index, frequency] of [660, 880].entries()) {
    const begin = audio.currentTime + index * 0.12
    const tone = new OscillatorNode(audio, { frequency })
    const volume = new GainNode(audio, { gain: 0 })
    volume.gain.setValueAtTime(0.12, begin)
    volume.gain.exponentialRampToValueAtTime(0.001, begin + 0.3)
    tone.connect(volume).connect(audio.destination)
    tone.start(begin)
    tone.stop(begin + 0.3)
  }
}

const soundedAs = 'isobot.inbox.sounded'
/** Longer than the tabs of a browser take to learn of the same news. */
const tabsMilliseconds = 5000

/** Whether no other tab has announced the news already. */
function isFirstTab(id: string): boolean {
  const [formerId, at] = (localStorage.getItem(soundedAs) ?? '').split('|')
  if (formerId === id && Date.now() - Number(at) < tabsMilliseconds) return false
  localStorage.setItem(soundedAs, `${id}|${Date.now()}`)
  return true
}
