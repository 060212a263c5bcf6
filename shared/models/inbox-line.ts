import { closedObject, type Infer } from '../schema.ts'

const id = { type: 'string' } as const

/** Changes of a handover. */
const handoverChanges = ['created', 'assigned', 'released', 'ended'] as const
export type HandoverChange = (typeof handoverChanges)[number]

/** A line of the stream that an open inbox follows. It names rows that have changed, and has nothing of their contents. */
export const inboxLine = closedObject(
  {
    type: {
      enum: ['ready', 'ping', 'handover', 'message', 'typing', 'presence'],
      description:
        '`ready` is the first one. `handover`: one has begun, got another member, or ended. `message`: its user has written. ' +
        '`typing`: its user types, or has stopped. `presence`: a member’s status has changed.',
    },
  },
  {
    change: { enum: handoverChanges },
    botId: id,
    conversationId: id,
    handoverId: id,
    memberId: { type: 'string', description: 'The account of the member who answers, or whose status has changed.' },
    isTyping: { type: 'boolean' },
  },
)

export type InboxLine = Infer<typeof inboxLine>
