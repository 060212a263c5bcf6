import { closedObject, type Infer } from '../schema.ts'
import { eventStatuses } from './event.ts'
import { previewOf, toChatPayload } from './payload.ts'
import { tags, type Tags } from './tags.ts'
import type { ConversationRow, EventStatus, MessageRow, UserRow } from './tables.ts'

/** Conversations as members of the workspace see them, who take no part in them. */

const time = { type: 'string', format: 'date-time' } as const

/** Upper bound of the messages that a list counts for each conversation. */
export const maxCounted = 1000

/** Upper bound of a message's or a state's payload in these answers, in bytes of JSON; larger ones are left out. */
export const maxPayloadBytes = 64 * 1024

const conversationFields = {
  id: { type: 'string' },
  createdAt: time,
  integration: { type: 'string', description: 'The name of the integration that the conversation belongs to.' },
  installationAlias: { type: 'string' },
  channel: { type: 'string' },
  tags,
  messageCount: { type: 'integer', description: `At most ${maxCounted} messages are counted.` },
} as const

const personFields = { name: { type: 'string' }, pictureUrl: { type: 'string' } } as const

/** The authors of messages; `member` is a member of the workspace who answers during a handover. */
const authorKinds = ['user', 'bot', 'member'] as const

/** A conversation in a list. */
export const listedConversation = closedObject(
  {
    ...conversationFields,
    message: {
      ...closedObject({
        id: { type: 'string' },
        direction: { enum: ['incoming', 'outgoing'] },
        author: { enum: authorKinds },
        createdAt: time,
        preview: { type: 'string', description: 'The content as plain text, or a part of it.' },
      }),
      description: 'The newest message of the conversation; with `text`, the newest one that has the text.',
    },
  },
  { user: closedObject({ id: { type: 'string' } }, { name: personFields.name }) },
)

/** A conversation with all that its messages do not show. */
export const shownConversation = closedObject({ ...conversationFields, properties: tags })

export const participant = closedObject(
  {
    id: { type: 'string' },
    createdAt: time,
    tags,
    isMember: { type: 'boolean', description: 'Whether the user stands for a member who answers during handovers.' },
  },
  personFields,
)

/** A state in short: its payload is absent where it is large. */
export const shownState = closedObject(
  {
    type: { enum: ['conversation', 'user'] },
    ownerId: { type: 'string', description: 'The id of the conversation or of the user.' },
    name: { type: 'string' },
    updatedAt: time,
  },
  { payload: { type: 'object', description: `Absent where it has more than ${maxPayloadBytes / 1024} KB.` } },
)

/** A message of a transcript. */
export const transcriptMessage = closedObject(
  {
    id: { type: 'string' },
    createdAt: time,
    updatedAt: time,
    direction: { enum: ['incoming', 'outgoing'] },
    type: { type: 'string' },
    author: {
      ...closedObject({ kind: { enum: authorKinds }, id: { type: 'string' } }, personFields),
      description:
        'Of a `member`, the id is that of the account. A deleted account leaves its name, and the id of the user that ' +
        'stood for it.',
    },
    tags,
    wasStreamed: { type: 'boolean', description: 'Whether listeners received it in parts before it was complete.' },
  },
  {
    payload: {
      type: 'object',
      description: `With \`type\`, as chat clients receive it. Absent where it has more than ${maxPayloadBytes / 1024} KB.`,
    },
    event: {
      ...closedObject(
        { id: { type: 'string' }, status: { enum: eventStatuses }, failureReason: { type: 'string', nullable: true } },
        {},
      ),
      description:
        'The event in which the bot handled an incoming message, or an integration delivered an outgoing one. Events ' +
        'are deleted earlier than messages.',
    },
  },
)

/** A conversation, with columns of other tables. */
export interface TranscriptConversationRow extends ConversationRow {
  integration: string
  alias: string
  message_count: number
}

/** A conversation in a list, with one of its messages. */
export interface ListedConversationRow extends TranscriptConversationRow {
  message_id: string
  message_direction: MessageRow['direction']
  message_author: string
  message_is_members: boolean
  message_type: string
  message_at: Date
  /** Null where it is large. */
  message_payload: MessageRow['payload'] | null
  user_id: string | null
  user_name: string | null
}

/** A message with its author's name and its event. */
export interface TranscriptMessageRow extends Omit<MessageRow, 'payload'> {
  /** Null where it is large. */
  payload: MessageRow['payload'] | null
  author_name: string | null
  /** The name of the member who wrote it; null: no member did. */
  member_name: string | null
  account_id: string | null
  member_picture_url: string | null
  event_id: string | null
  event_status: EventStatus | null
  failure_reason: string | null
}

/** A participant. */
export interface ParticipantUserRow extends UserRow {
  is_member: boolean
}

/** A state of a conversation or of one of its users. */
export interface ShownStateRow {
  type: 'conversation' | 'user'
  owner_id: string
  name: string
  payload: Record<string, unknown> | null
  updated_at: Date
}

function toFields(row: TranscriptConversationRow) {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    integration: row.integration,
    installationAlias: row.alias,
    channel: row.channel,
    tags: row.tags as Tags,
    messageCount: row.message_count,
  }
}

/** @param words that the message has, near which its preview is cut */
export function toListedConversation(row: ListedConversationRow, words?: string): Infer<typeof listedConversation> {
  return {
    ...toFields(row),
    message: {
      id: row.message_id,
      direction: row.message_direction,
      author: row.message_is_members ? 'member' : row.message_author === row.bot_id ? 'bot' : 'user',
      createdAt: row.message_at.toISOString(),
      preview: cutNear(previewOf({ type: row.message_type, payload: row.message_payload ?? {} }), words),
    },
    ...(row.user_id !== null && {
      user: { id: row.user_id, ...(row.user_name !== null && { name: row.user_name }) },
    }),
  }
}

export function toShownConversation(row: TranscriptConversationRow): Infer<typeof shownConversation> {
  return { ...toFields(row), properties: row.properties }
}

export function toParticipant(row: ParticipantUserRow): Infer<typeof participant> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    tags: row.tags,
    isMember: row.is_member,
    ...(row.name !== null && { name: row.name }),
    ...(row.picture_url !== null && { pictureUrl: row.picture_url }),
  }
}

export function toShownState(row: ShownStateRow): Infer<typeof shownState> {
  return {
    type: row.type,
    ownerId: row.owner_id,
    name: row.name,
    updatedAt: row.updated_at.toISOString(),
    ...(row.payload && { payload: row.payload }),
  }
}

export function toTranscriptMessage(row: TranscriptMessageRow): Infer<typeof transcriptMessage> {
  const { payload, type } = row
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    direction: row.direction,
    type,
    ...(payload && { payload: toChatPayload({ type, payload }) }),
    author: toAuthor(row),
    tags: row.tags,
    wasStreamed: typeof row.metadata?.['streamId'] === 'string',
    ...(row.event_id !== null && {
      event: { id: row.event_id, status: row.event_status!, failureReason: row.failure_reason },
    }),
  }
}

function toAuthor(row: TranscriptMessageRow): Infer<typeof transcriptMessage>['author'] {
  const { member_name: memberName, member_picture_url: pictureUrl } = row
  if (memberName !== null) {
    const id = row.account_id ?? row.user_id
    return { kind: 'member', id, name: memberName, ...(pictureUrl !== null && { pictureUrl }) }
  }
  return {
    kind: row.user_id === row.bot_id ? 'bot' : 'user',
    id: row.user_id,
    ...(row.author_name !== null && { name: row.author_name }),
  }
}

const previewCharacters = 200

/** The part of a text around some words, or its start. */
function cutNear(text: string, words = ''): string {
  const at = text.toLowerCase().indexOf(words.toLowerCase())
  const start = at + words.length <= previewCharacters ? 0 : at - previewCharacters / 4
  const part = text.slice(start, start + previewCharacters)
  return `${start > 0 ? '…' : ''}${part}`.toWellFormed()
}
