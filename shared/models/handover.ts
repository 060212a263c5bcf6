import { closedObject, type Infer } from '../schema.ts'
import { previewOf } from './payload.ts'
import { handoverStatuses, type HandoverRow } from './tables.ts'

const time = { type: 'string', format: 'date-time' } as const

/** Upper bounds of the texts, in characters. */
export const handoverTitle = { type: 'string', minLength: 1, maxLength: 200 } as const
export const handoverDescription = { type: 'string', minLength: 1, maxLength: 2000 } as const

/** Upper bound of the time until a handover ends by itself: 30 days. */
export const maxHandoverSeconds = 30 * 24 * 3600

/** Upper bound of the unread messages that a list counts for each handover. */
export const maxUnread = 99

const requiredFields = {
  id: { type: 'string' },
  conversationId: { type: 'string' },
  status: {
    enum: handoverStatuses,
    description: '`pending`: no member answers yet; `assigned`: a member does; `resolved` and `expired`: it has ended.',
  },
  requestedBy: {
    enum: ['bot', 'member', 'integration'],
    description: '`integration`: begun through the inbox, where a plugin of the bot copies the messages.',
  },
  integration: { type: 'string', description: 'The integration of the conversation.' },
  channel: { type: 'string' },
  createdAt: time,
} as const

const optionalFields = {
  title: handoverTitle,
  description: handoverDescription,
  member: closedObject(
    { id: { type: 'string', description: 'The member’s account.' }, name: { type: 'string' } },
    { pictureUrl: { type: 'string' } },
  ),
  user: closedObject({ id: { type: 'string' } }, { name: { type: 'string' } }),
  assignedAt: time,
  firstReplyAt: time,
  expiresAt: { ...time, description: 'The time at which it ends by itself.' },
  endedAt: time,
} as const

/** A handover, as operations show it. */
export const handover = closedObject(requiredFields, optionalFields)

/** A handover in a list of a member's. */
export const listedHandover = closedObject(
  {
    ...requiredFields,
    unreadCount: {
      type: 'integer',
      description: `Messages of the user in this handover that the caller has not read; at most ${maxUnread} are counted, and 0 once it has ended.`,
    },
  },
  {
    ...optionalFields,
    lastMessage: {
      ...closedObject({
        createdAt: time,
        isFromUser: { type: 'boolean' },
        preview: { type: 'string', description: 'The start of the content as plain text.' },
      }),
      description: 'Only while the caller answers: of other conversations, the reading would not be in the audit log.',
    },
  },
)

const words = { type: 'string', minLength: 1, maxLength: 200 } as const

/** The input fields by which lists of handovers are filtered. */
export const handoverFilter = {
  status: {
    enum: ['open', ...handoverStatuses, 'ended', 'all'],
    description: '`open`: those that are pending or assigned; `ended`: those that are resolved or expired.',
  },
  memberId: { type: 'string', description: 'The account of the member who answers, or answered last.' },
  text: {
    ...words,
    description:
      'Only those whose title or description, or the name of whose user, has this text, in any case; or whose id, ' +
      'conversation or user it is.',
  },
  timeStart: { type: 'string', format: 'date-time', description: 'Only those begun at this time or later.' },
  timeEnd: { type: 'string', format: 'date-time', description: 'Only those begun at this time or earlier.' },
} as const

/** The filters of a list of handovers. */
export interface HandoverQuery {
  status: (typeof handoverFilter)['status']['enum'][number]
  memberId?: string | undefined
  conversationId?: string | undefined
  text?: string | undefined
  timeStart?: string | undefined
  timeEnd?: string | undefined
}

export type Handover = Infer<typeof handover>

/** A handover with the names of its member and its user. */
export interface HandoverView extends HandoverRow {
  account_name: string | null
  account_picture_url: string | null
  user_id: string | null
  user_name: string | null
  integration: string
  channel: string
  /** Whether the run that has begun it has not ended. */
  is_beginning: boolean
}

/** A handover in a list, with the number of messages that a member has not read. */
export interface ListedHandoverView extends HandoverView {
  unread_count: number
  /** The type of the last message; null, like the other columns of it, unless the member answers. */
  last_type: string | null
  last_payload: Record<string, unknown> | null
  last_at: Date
  last_is_from_user: boolean
}

const previewCharacters = 120

export function toListedHandover(row: ListedHandoverView): Infer<typeof listedHandover> {
  const { unread_count: unreadCount, last_type: type, last_payload: payload, last_at: at } = row
  return {
    ...toHandover(row),
    unreadCount,
    ...(type !== null && {
      lastMessage: {
        createdAt: at.toISOString(),
        isFromUser: row.last_is_from_user,
        preview: previewOf({ type, payload: payload ?? {} })
          .slice(0, previewCharacters)
          .toWellFormed(),
      },
    }),
  }
}

export function toHandover(row: HandoverView): Handover {
  const { account_id: accountId, account_name: name, account_picture_url: pictureUrl, user_id: userId } = row
  return {
    id: row.id,
    conversationId: row.conversation_id,
    status: row.status,
    requestedBy: row.requested_by,
    integration: row.integration,
    channel: row.channel,
    createdAt: row.created_at.toISOString(),
    ...(row.title !== null && { title: row.title }),
    ...(row.description !== null && { description: row.description }),
    ...(accountId !== null && {
      member: { id: accountId, name: name ?? '', ...(pictureUrl !== null && { pictureUrl }) },
    }),
    ...(userId !== null && { user: { id: userId, ...(row.user_name !== null && { name: row.user_name }) } }),
    ...(row.assigned_at && { assignedAt: row.assigned_at.toISOString() }),
    ...(row.first_reply_at && { firstReplyAt: row.first_reply_at.toISOString() }),
    ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
    ...(row.ended_at && { endedAt: row.ended_at.toISOString() }),
  }
}
