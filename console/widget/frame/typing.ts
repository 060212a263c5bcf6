import type { ReadonlySignal } from '@preact/signals'
import type { Ask } from './api.ts'
import type { Turn } from './people.ts'

/** The inbox shows for 6 seconds that the visitor types. */
const againMilliseconds = 3000

interface Parts {
  ask: Ask
  turns: ReadonlySignal<Turn[]>
  currentId: () => string | undefined
}

/**
 * Tells the person who answers that the visitor types, or has stopped. A bot is told nothing.
 *
 * @returns the function to call at each change of the field
 */
export function openTyping({ ask, turns, currentId }: Parts): (isTyping: boolean) => void {
  let told: { id: string; at: number } | undefined
  return (isTyping) => {
    const id = currentId()
    if (id === undefined || turns.value.at(-1)?.name === undefined) return
    const isTold = told?.id === id
    if (isTyping ? isTold && Date.now() - told!.at < againMilliseconds : !isTold) return
    told = isTyping ? { id, at: Date.now() } : undefined
    // The person sees the message anyway.
    void ask('POST', `conversations/${id}/typing`, { isTyping }).catch(() => {})
  }
}
