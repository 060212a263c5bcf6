import { closedObject, compile, describeErrors, type Infer } from '../schema.ts'
import type { Message } from './message.ts'
import { chatPayload, isRecord, previewOf, type ChatPayload } from './payload.ts'
import type { Tags } from './tags.ts'
import type { UserRow } from './tables.ts'
import { toUser, user } from './user.ts'

/**
 * Requests and frames of the published web chat. It has the messages of the chat in another form: items of a bloc are
 * messages with a payload of their own, those of a carousel have no type, and bots may send components of a page
 * (`custom`).
 */

const isChatPayload = compile(chatPayload, 'body')
const componentPayload = {
  type: 'object',
  required: ['type', 'url', 'name'],
  properties: { type: { const: 'custom' }, url: { type: 'string' }, name: { type: 'string' } },
} as const
const isComponent = compile(componentPayload, 'body')

/** Whether a payload is a component of a page, which a bot may send to the web chat. */
export function isWebchatComponent(payload: unknown): boolean {
  return isComponent(payload)
}

/**
 * Reads a visitor's payload, which may be any message of the chat: components of a page would be code in the page.
 *
 * @returns the payload in the form of the chat, or the problem
 */
export function readGivenPayload(given: Record<string, unknown>): { read: ChatPayload } | { problem: string } {
  const { items } = given
  const read: unknown =
    given['type'] === 'bloc' && Array.isArray(items) ? { ...given, items: items.map(flattenItem) } : given
  return isChatPayload(read) ? { read } : { problem: describeErrors(isChatPayload) }
}

function flattenItem(item: unknown): unknown {
  return isRecord(item) && isRecord(item['payload']) ? { ...item['payload'], type: item['type'] } : item
}

/**
 * Converts a payload of the chat to that of the web chat. The published web chat cannot open a conversation that has a
 * message of an unknown type, so such a message becomes a text.
 */
export function toWebchatPayload(payload: Record<string, unknown>): Record<string, unknown> {
  if (isComponent(payload)) return payload
  if (!isChatPayload(payload)) {
    const { type, ...rest } = payload
    return { type: 'text', text: previewOf({ type: String(type), payload: rest }) || String(type) }
  }
  if (payload.type === 'bloc') {
    return { ...payload, items: payload.items.map(({ type, ...rest }) => ({ type, payload: rest })) }
  }
  if (payload.type === 'carousel') return { ...payload, items: payload.items.map(({ type: _type, ...card }) => card) }
  return payload
}

const feedback = closedObject({ value: { enum: ['positive', 'negative'] } }, { comment: { type: 'string' } })

/** A message as the web chat gets it. */
export const webchatMessage = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    payload: { type: 'object' },
    userId: { type: 'string' },
    conversationId: { type: 'string' },
  },
  { metadata: { type: 'object' }, feedback },
)

export type WebchatMessage = Infer<typeof webchatMessage>

/** The tags of a message that hold a visitor's feedback. */
export const feedbackTag = 'webchat:feedback'
export const feedbackCommentTag = 'webchat:feedbackComment'

/** @param tags the message's own, which may hold the visitor's feedback */
export function toWebchatMessage(message: Message, tags: Tags = {}): WebchatMessage {
  const { [feedbackTag]: value, [feedbackCommentTag]: comment } = tags
  const isValue = value === 'positive' || value === 'negative'
  return {
    ...message,
    payload: toWebchatPayload(message.payload),
    ...(isValue && { feedback: { value, ...(comment !== undefined && { comment }) } }),
  }
}

/** A visitor as the web chat gets it. */
export const webchatUser = closedObject(
  { id: user.properties.id, createdAt: user.properties.createdAt, updatedAt: user.properties.updatedAt },
  { name: user.properties.name, pictureUrl: user.properties.pictureUrl, userData: { type: 'object' } },
)

export type WebchatUser = Infer<typeof webchatUser>

/** The tag of a user with the data that the page has given, as JSON. Any holder of the key can set it. */
export const userDataTag = 'webchat:userData'

export function toWebchatUser(row: UserRow): WebchatUser {
  const { profile: _profile, ...shown } = toUser(row)
  const userData = userDataOf(row)
  return { ...shown, ...(userData && { userData }) }
}

/** A user who takes part in a conversation. */
export interface ParticipantRow extends UserRow {
  joined_at: Date
}

/** A participant as others see it: without the data of the page. */
export function toWebchatParticipant(row: ParticipantRow) {
  const { profile: _profile, ...shown } = toUser(row)
  return { ...shown, joinedAt: row.joined_at.toISOString() }
}

/** A handover as the users of the conversation see it. */
export interface SeenHandoverRow {
  id: string
  /** The user who stands for its member; null while no member answers. */
  user_id: string | null
  assigned_at: Date | null
  ended_at: Date | null
}

/** From when to when a participant answers in the bot's place. */
export function toWebchatHandover({
  id,
  user_id: userId,
  assigned_at: assignedAt,
  ended_at: endedAt,
}: SeenHandoverRow) {
  return {
    id,
    ...(userId !== null && assignedAt && { userId, assignedAt: assignedAt.toISOString() }),
    ...(endedAt && { endedAt: endedAt.toISOString() }),
  }
}

/** The data that the page has given about a visitor. */
export function userDataOf({ tags }: Pick<UserRow, 'tags'>): Record<string, unknown> | undefined {
  const stored = tags[userDataTag]
  if (stored === undefined) return undefined
  try {
    const data: unknown = JSON.parse(stored)
    return isRecord(data) ? data : undefined
  } catch {
    // A bot has written something else into the tag.
    return undefined
  }
}
