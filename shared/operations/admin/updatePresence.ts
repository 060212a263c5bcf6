import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { presenceMilliseconds } from '../../models/presence.ts'
import { operation } from '../../rpc/operation.ts'
import { publishToInboxes } from '../../signals/after-commit.ts'
import { recordHeartbeat } from '../../store/presences.ts'

export const updatePresence = operation({
  name: 'updatePresence',
  description:
    `Shows colleagues and bots for ${presenceMilliseconds / 1000} seconds that the caller’s inbox is open. An open inbox ` +
    'repeats it every 30 seconds.',
  method: 'PUT',
  path: '/v1/admin/presence',
  access: 'agent',
  stability: 'experimental',
  errors: ['Forbidden'],
  // A heartbeat.
  changesNothing: true,
  input: closedObject(
    {},
    { away: { type: 'boolean', description: 'Whether the caller takes no conversations now. Absent: as before.' } },
  ),
  output: closedObject({
    presence: closedObject({
      status: { enum: ['online', 'away'] },
      expiresAt: { type: 'string', format: 'date-time' },
    }),
  }),

  async handle(context, { away }) {
    const { accountId, workspaceId } = context.caller
    const present = await recordHeartbeat(context.db, { accountId, workspaceId, isAway: away })
    if (!present) throw new ApiError('Forbidden', 'You are no longer a member of this workspace')
    if (present.isChange) await publishToInboxes(context, workspaceId, { type: 'presence', memberId: accountId })
    const status = present.isAway ? ('away' as const) : ('online' as const)
    return { presence: { status, expiresAt: present.presentUntil.toISOString() } }
  },
})
