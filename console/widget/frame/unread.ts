import { computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import type { Message, User } from './types.ts'
import type { FrameStorage } from './storage.ts'
import type { Visitor } from './visitor.ts'

/** Counts the messages that the visitor has not seen, and remembers the newest that was seen. */
export interface Unread {
  /** Begins anew with another visitor. */
  restart(): void
}

interface Shown {
  messages: ReadonlySignal<Message[]>
  user: ReadonlySignal<User | undefined>
  /** Whether the page shows the chat. */
  isOpen: ReadonlySignal<boolean>
}

export function openUnread(
  storage: FrameStorage,
  visitor: Visitor,
  { messages, user, isOpen }: Shown,
  onCount: (count: number) => void,
): Unread {
  const isVisible = signal(document.visibilityState === 'visible')
  document.addEventListener('visibilitychange', () => (isVisible.value = document.visibilityState === 'visible'))
  /** The time of the newest message that the visitor has seen. */
  const seen = signal(visitor.get('seen') ?? '')
  const count = computed(
    () => messages.value.filter(({ userId, createdAt }) => userId !== user.value?.id && createdAt > seen.value).length,
  )
  effect(() => {
    const last = messages.value.at(-1)
    if (!last || !isOpen.value || !isVisible.value || last.createdAt <= seen.value) return
    seen.value = last.createdAt
    visitor.set('seen', last.createdAt)
  })
  effect(() => onCount(count.value))
  // Messages that the visitor has seen in another tab are seen.
  storage.onChange('seen', () => {
    const elsewhere = visitor.get('seen') ?? ''
    if (elsewhere > seen.value) seen.value = elsewhere
  })
  return { restart: () => (seen.value = visitor.get('seen') ?? '') }
}
