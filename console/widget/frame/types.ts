/** The messages, users and stream frames that the platform sends to the frame. */

export interface Payload {
  type: string
  [field: string]: unknown
}

export interface Message {
  id: string
  createdAt: string
  payload: Payload
  userId: string
  conversationId: string
  metadata?: Record<string, unknown>
  feedback?: { value: 'positive' | 'negative' }
}

export interface User {
  id: string
  name?: string
  pictureUrl?: string
  userData?: Record<string, unknown>
}

/** A user who takes part in the conversation. */
export interface Participant extends User {
  joinedAt: string
}

/** From when to when a participant answers in the bot's place. */
export interface Handover {
  id: string
  userId?: string
  assignedAt?: string
  endedAt?: string
}

export interface Conversation {
  id: string
  updatedAt: string
  lastMessage?: Pick<Message, 'userId' | 'payload' | 'createdAt'>
}

/** A frame of the stream. */
export type StreamFrame =
  | {
      type: 'init'
      data: {
        conversation: { id: string }
        messages: Message[]
        meta: { nextToken?: string }
        participants: Participant[]
        handovers: Handover[]
        user: User & { userKey: string }
      }
    }
  | { type: 'message_created' | 'message_updated'; data: Message }
  | { type: 'message_deleted'; data: { id: string } }
  | { type: 'participant_added'; data: { participant: Participant } }
  | { type: 'participant_removed'; data: { participantId: string } }
  | { type: 'handover_changed'; data: { handover: Handover } }
  | { type: 'typing_started'; data: { userId?: string; timeout?: number } }
  | { type: 'typing_stopped'; data: { userId?: string } }
  | { type: 'webchat_visibility'; data: { visibility: 'show' | 'hide' | 'toggle' } }
  | { type: 'webchat_config'; data: { config: Record<string, unknown> } }
  | { type: 'custom'; data: { event: unknown } }

export interface Option {
  label: string
  value: string
}

export interface Card {
  title: string
  subtitle?: string
  imageUrl?: string
  actions?: (Option & { action: string })[]
}
