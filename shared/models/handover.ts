import { closedObject, type Infer } from '../schema.ts'
import { handoverStatuses, type HandoverRow } from './tables.ts'

const time = { type: 'string', format: 'date-time' } as const

/** Upper bounds of the texts, in characters. */
export const handoverTitle = { type: 'string', minLength: 1, maxLength: 200 } as const
export const handoverDescription = { type: 'string', minLength: 1, maxLength: 2000 } as const

/** Upper bound of the time until a handover ends by itself: 30 days. */
export const maxHandoverSeconds = 30 * 24 * 3600

/** A handover, as operations show it. */
export const handover = closedObject(
  {
    id: { type: 'string' },
    conversationId: { type: 'string' },
    status: {
      enum: handoverStatuses,
      description:
        '`pending`: no member answers yet; `assigned`: a member does; `resolved` and `expired`: it has ended.',
    },
    requestedBy: {
      enum: ['bot', 'member', 'integration'],
      description: '`integration`: begun through the inbox, where a plugin of the bot copies the messages.',
    },
    integration: { type: 'string', description: 'The integration of the conversation.' },
    channel: { type: 'string' },
    createdAt: time,
  },
  {
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
  },
)

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
