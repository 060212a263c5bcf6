import { signal, type ReadonlySignal } from '@preact/signals'
import type { Visitor } from './visitor.ts'

/** The conversation that the chat shows, or asks the platform for. */
export interface CurrentConversation {
  /** Undefined while the platform has not begun the conversation. */
  readonly id: ReadonlySignal<string | undefined>
  /** Whether the visitor has no conversation, and has not asked for a new one either. */
  isFirst(): boolean
  /** The id that the next stream asks for; undefined for a new conversation. @throws Error when the platform is unavailable */
  request(): Promise<string | undefined>
  /** Whether the present stream asked for the conversation with this id, or for a new one if it is undefined. */
  isRequested(id: string | undefined): boolean
  /** Takes the conversation that a stream has opened, and keeps it for the next visit. */
  begin(id: string): void
  /** Turns to another conversation; undefined for a new one. */
  choose(id: string | undefined): void
  /** Begins anew with another visitor. */
  restart(): void
}

/**
 * @param given id that the page asks for
 * @param newest reads the id of the visitor's newest conversation. @throws Error when the platform is unavailable
 */
export function openCurrentConversation(
  visitor: Visitor,
  given: string | undefined,
  newest: () => Promise<string | undefined>,
): CurrentConversation {
  const current = signal(given ?? visitor.get('conversation'))
  /** The conversation that the present stream asked for. */
  let requested: string | undefined
  /** Whether the visitor has asked for a new conversation. */
  let wantsNew = false
  return {
    id: current,
    isFirst: () => !wantsNew && (current.value ?? visitor.get('conversation')) === undefined,
    async request() {
      if (!wantsNew) {
        // Another tab may have begun a conversation since.
        current.value ??= visitor.get('conversation')
        // A visitor whom the site names may have begun one on another device.
        if (current.value === undefined && visitor.id() !== undefined) current.value = await newest()
      }
      requested = current.value
      return requested
    },
    isRequested: (id) => id === requested,
    begin(id) {
      current.value = id
      visitor.set('conversation', id)
    },
    choose(id) {
      current.value = id
      wantsNew = id === undefined
    },
    restart() {
      wantsNew = false
      current.value = visitor.get('conversation')
    },
  }
}
