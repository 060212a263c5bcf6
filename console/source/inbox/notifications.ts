import { openSound } from '../../widget/frame/sound.ts'
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
  if (hasSound.value && isFirstTab(news.id)) sound.play()
  if (isSeen || !showsNotifications.value || permission() !== 'granted') return
  const shown = notify(news)
  shown?.addEventListener('click', () => {
    window.focus()
    navigate(news.href)
    shown.close()
  })
}

/** Shows a notification. @returns undefined in browsers of phones, which have the interface and refuse it to pages */
function notify({ id, title, text }: News): Notification | undefined {
  try {
    return new Notification(title, { body: text, tag: id })
  } catch {
    return undefined
  }
}

/** The browser's permission; `unsupported` where pages cannot notify, as without TLS. */
export function permission(): NotificationPermission | 'unsupported' {
  return 'Notification' in window ? Notification.permission : 'unsupported'
}

/** Turns notifications on, for which the browser asks the member. It has to be called in the handler of a click. */
export async function askForNotifications(): Promise<void> {
  showsNotifications.value = permission() !== 'unsupported' && (await Notification.requestPermission()) === 'granted'
}

/** Two short tones. Browsers play them once the member has used the page. */
export const sound = openSound(
  [
    { hertz: 660, seconds: 0 },
    { hertz: 880, seconds: 0.12 },
  ],
  () => hasSound.value,
)

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
