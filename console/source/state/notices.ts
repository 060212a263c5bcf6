import { signal } from '@preact/signals'
import { explain } from '../api/ask.ts'

export interface Notice {
  id: number
  kind: 'good' | 'bad' | 'busy'
  text: string
}

export const notices = signal<Notice[]>([])

let last = 0
const shownMilliseconds = { good: 5000, bad: 12_000 }
/** An action that takes longer shows that it goes on. */
const unnoticedMilliseconds = 1000

/** Shows the result of an action in a corner of the page and announces it to screen readers. */
export function notify(kind: 'good' | 'bad', text: string): void {
  const id = show(kind, text)
  setTimeout(() => dismiss(id), shownMilliseconds[kind])
}

/** A text that is shown already is shown once, as the newest. */
function show(kind: Notice['kind'], text: string): number {
  const id = ++last
  notices.value = [...notices.value.filter((notice) => notice.text !== text), { id, kind, text }]
  return id
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}

/** Runs an action and shows a notice about its result, or that it takes long. Returns whether it succeeded. */
export async function attempt<T>(action: () => Promise<T>, done: string | ((result: T) => string)): Promise<boolean> {
  let waiting: number | undefined
  const timer = setTimeout(() => (waiting = show('busy', 'Waiting for the server …')), unnoticedMilliseconds)
  try {
    const result = await action()
    notify('good', typeof done === 'string' ? done : done(result))
    return true
  } catch (error) {
    notify('bad', explain(error))
    return false
  } finally {
    clearTimeout(timer)
    if (waiting !== undefined) dismiss(waiting)
  }
}
