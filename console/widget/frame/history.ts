import type { Message } from './types.ts'

/** A message of the open conversation. */
export type Shown = Message

/**
 * The key of a message from its first part on: a message that is being written has the id of its stream, and gets
 * another when it is finished; a message of the visitor has the id under which it was sent.
 */
export function keyOf(message: Message): string {
  const { streamId } = message.metadata ?? {}
  // Authors choose these ids: one cannot take the place of another's message.
  return `${message.userId} ${typeof streamId === 'string' ? streamId : (sentIdOf(message) ?? message.id)}`
}

/** The id under which a client has sent the message. */
export function sentIdOf({ metadata }: Message): string | undefined {
  const { clientMessageId } = metadata ?? {}
  return typeof clientMessageId === 'string' ? clientMessageId : undefined
}

/** Whether the bot is still writing the message. */
export function isBeingWritten({ id }: Message): boolean {
  return !id.startsWith('msg_')
}

/** Adds messages to a conversation, or puts them in the place of their earlier parts: each once, in the order of the log. */
export function merge(present: Message[], given: Message[]): Message[] {
  const byKey = new Map(present.map((message) => [keyOf(message), message]))
  for (const message of given) {
    const earlier = byKey.get(keyOf(message))
    // The finished message is final: a part that arrives later is older.
    if (earlier && !isBeingWritten(earlier) && isBeingWritten(message)) continue
    byKey.set(keyOf(message), message)
  }
  return [...byKey.values()].toSorted((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt))
}
