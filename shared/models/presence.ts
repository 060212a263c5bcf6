import { closedObject } from '../schema.ts'

/** A heartbeat is good for so long, in milliseconds; open inboxes send one each 30 s. */
export const presenceMilliseconds = 90_000

/** Members of a workspace that a list of presences has at most. */
export const maxListedMembers = 200

/** A member who may answer in conversations, as colleagues see them. */
export const presentMember = closedObject(
  {
    id: { type: 'string', description: 'The member’s account.' },
    name: { type: 'string' },
    status: {
      enum: ['online', 'away', 'offline'],
      description: '`online`: the member’s inbox is open; `away`: it is, and the member takes no conversations now.',
    },
    openHandovers: { type: 'integer', description: 'Handovers in progress that the member answers.' },
  },
  { pictureUrl: { type: 'string' } },
)
