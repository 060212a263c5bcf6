import { signal } from '@preact/signals'
import { explain } from '../api/ask.ts'

export interface Notice {
  id: number
  kind: 'good' | 'bad'
  text: string
}

export const notices = signal<Notice[]>([])

let last = 0
const shownMilliseconds = { good: 5000, bad: 12_000 }

/** Shows the result of an action in a corner of the page and announces it to screen readers. */
export function notify(kind: Notice['kind'], text: string): void {
  const id = ++last
  notices.value = [...notices.value, { id, kind, text }]
  setTimeout(() => dismiss(id), shownMilliseconds[kind])
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}

/** Runs an action and shows a notice about its result. Returns whether it succeeded. */
export async function attempt<T>(action: () => Promise<T>, done: string | ((result: T) => string)): Promise<boolean> {
  try {
    const result = await action()
    notify('good', typeof done === 'string' ? done : done(result))
    return true
  } catch (error) {
    notify('bad', explain(error))
    return false
  }
}
