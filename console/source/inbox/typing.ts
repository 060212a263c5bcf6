import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useOnInboxLine } from './follow.ts'

/** The conversations whose user types now. */
export const typing = signal<ReadonlySet<string>>(new Set())

/** Users' clients repeat it every few seconds. */
const shownMilliseconds = 6000

/** Keeps `typing` while the inbox is open. */
export function useTypingUsers(): void {
  useOnInboxLine((line) => {
    const { type, conversationId, isTyping = false } = line
    if (conversationId !== undefined && (type === 'typing' || type === 'message')) show(conversationId, isTyping)
  })
  useEffect(
    () => () => {
      for (const id of timers.keys()) show(id, false)
    },
    [],
  )
}

const timers = new Map<string, ReturnType<typeof setTimeout>>()

function show(conversationId: string, isTyping: boolean): void {
  clearTimeout(timers.get(conversationId))
  timers.delete(conversationId)
  if (isTyping) {
    timers.set(
      conversationId,
      setTimeout(() => show(conversationId, false), shownMilliseconds),
    )
  }
  typing.value = new Set(timers.keys())
}
