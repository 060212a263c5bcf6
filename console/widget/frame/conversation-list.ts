import { signal, type ReadonlySignal } from '@preact/signals'
import { ChatError } from '../../../shared/chat-client/chat-error.ts'
import type { Ask } from './api.ts'
import type { Conversation } from './types.ts'
import type { Visitor } from './visitor.ts'

/** The visitor's conversations, the newest first. */
export interface ConversationList {
  /** Those with messages; undefined until they are read. */
  readonly shown: ReadonlySignal<Conversation[] | undefined>
  /** Reads them. @throws Error when the platform is unavailable */
  read(): Promise<void>
  /** The id of the newest; undefined for a visitor who has not been here before. @throws Error as `read` */
  newest(): Promise<string | undefined>
  /** Forgets those that were read, which are another visitor's. */
  clear(): void
}

export function openConversationList(visitor: Visitor, ask: Ask): ConversationList {
  const shown = signal<Conversation[] | undefined>(undefined)
  const list = async () => (await ask<{ conversations: Conversation[] }>('GET', 'conversations')).conversations
  return {
    shown,
    async read() {
      if (visitor.key() === undefined) shown.value = []
      else shown.value = (await list()).filter(({ lastMessage }) => lastMessage !== undefined)
    },
    async newest() {
      try {
        return (await list())[0]?.id
      } catch (error) {
        // The visitor has not been here before.
        if (error instanceof ChatError && error.status === 404) return undefined
        throw error
      }
    },
    clear: () => (shown.value = undefined),
  }
}
