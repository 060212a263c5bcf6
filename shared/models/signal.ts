import type { ChatEvent } from './event.ts'
import type { Message } from './message.ts'

/**
 * A signal that listeners of a conversation receive, exactly as published clients parse it. Each is an entry of the
 * conversation's log: stored, with a position.
 */
export type ChatSignal =
  | { type: 'message_created'; data: Message & { isBot: boolean } }
  /** The payload or the metadata of a message has changed: the message as it is when the signal is read. */
  | { type: 'message_updated'; data: Message & { isBot: boolean } }
  /** The bot's own events are only published and not stored as events, so they have no id. */
  | { type: 'event_created'; data: Omit<ChatEvent, 'id'> & { id: string | null; isBot: boolean } }
  | { type: 'message_deleted'; data: { id: string; conversationId: string; userId: string } }
  | { type: 'participant_added'; data: Participation }
  /** `removedUserId` identifies the streams that the api ends; clients do not receive it. */
  | { type: 'participant_removed'; data: Participation; removedUserId: string }

/**
 * A signal as the conversation's log stores it. An update names its message, whose content has one row only: its deletion,
 * and that of its user, leave no copy.
 */
export type StoredSignal =
  | Exclude<ChatSignal, { type: 'message_updated' }>
  | { type: 'message_updated'; data: { id: string; conversationId: string } }

interface Participation {
  conversationId: string
  participantId: string
}

/** A signal that is useful only at its moment and is not stored. */
export type EphemeralSignal =
  | { type: 'message_stream_delta'; data: StreamDelta }
  | { type: 'message_stream_complete'; data: { streamId: string; message: Message } }
  | { type: 'message_stream_abort'; data: { streamId: string; conversationId: string } }
  | TypingSignal
  | WebchatSignal

/**
 * The bot composes an answer, or has stopped; with `userId`, the participant who stands for a member. `timeout`: the
 * milliseconds after which clients take it for stopped.
 */
export type TypingSignal =
  | { type: 'typing_started'; data: { conversationId: string; userId?: string; timeout?: number } }
  | { type: 'typing_stopped'; data: { conversationId: string; userId?: string } }

/** A signal of a bot to the open web chats of a conversation. The Chat API has none of them. */
export type WebchatSignal =
  | { type: 'webchat_visibility'; data: { conversationId: string; visibility: 'show' | 'hide' | 'toggle' } }
  | { type: 'webchat_config'; data: { conversationId: string; config: Record<string, unknown> } }
  | HandoverSignal

/** A member begins to answer in a conversation, or its handover ends: web chats read the row. */
export interface HandoverSignal {
  type: 'handover_changed'
  data: { conversationId: string; handoverId: string }
}

const webchatSignals: readonly string[] = [
  'webchat_visibility',
  'webchat_config',
  'handover_changed',
] satisfies WebchatSignal['type'][]

/** Whether a signal is for web chats alone. */
export function isWebchatSignal(signal: EphemeralSignal): signal is WebchatSignal {
  return webchatSignals.includes(signal.type)
}

interface StreamDelta {
  streamId: string
  conversationId: string
  userId: string
  createdAt: string
  clientMessageId?: string
  sequence: number
  delta: string
}

/** A signal for a client that uses an id of its own for the conversation. */
export function toListener(
  signal: ChatSignal | EphemeralSignal,
  conversationId: string,
): { type: string; data: Record<string, unknown> } {
  const { type, data } = signal
  if (type === 'message_stream_complete')
    return { type, data: { ...data, message: { ...data.message, conversationId } } }
  return { type, data: { ...data, conversationId } }
}
