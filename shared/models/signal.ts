import type { ChatEvent } from './event.ts'
import type { Message } from './message.ts'

/**
 * What the listeners of a conversation are told, exactly as published clients parse it. Each is an entry of the
 * conversation's log: stored, and in its place among the others.
 */
export type ChatSignal =
  | { type: 'message_created'; data: Message & { isBot: boolean } }
  /** The bot's own events are only told, not kept as events: they have no id. */
  | { type: 'event_created'; data: Omit<ChatEvent, 'id'> & { id: string | null; isBot: boolean } }
  | { type: 'message_deleted'; data: { id: string; conversationId: string; userId: string } }
  | { type: 'participant_added'; data: Participation }
  /** `removedUserId` is for the streams' door, which ends those of that user, and goes no further. */
  | { type: 'participant_removed'; data: Participation; removedUserId: string }

interface Participation {
  conversationId: string
  participantId: string
}

/** What is only of use at the moment: a message while it is being written. It is not stored. */
export type EphemeralSignal =
  | { type: 'message_stream_delta'; data: StreamDelta }
  | { type: 'message_stream_complete'; data: { streamId: string; message: Message } }
  | { type: 'message_stream_abort'; data: { streamId: string; conversationId: string } }

interface StreamDelta {
  streamId: string
  conversationId: string
  userId: string
  createdAt: string
  clientMessageId?: string
  sequence: number
  delta: string
}

/** A signal as a client gets it that calls the conversation by a name of its own. */
export function toListener(
  signal: ChatSignal | EphemeralSignal,
  conversationId: string,
): { type: string; data: Record<string, unknown> } {
  const { type, data } = signal
  if (type === 'message_stream_complete')
    return { type, data: { ...data, message: { ...data.message, conversationId } } }
  return { type, data: { ...data, conversationId } }
}
