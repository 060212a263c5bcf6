import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { publishToInboxes } from '../../signals/after-commit.ts'
import { endPresence } from '../../store/presences.ts'

export const leaveInbox = operation({
  name: 'leaveInbox',
  description: 'Shows colleagues and bots at once that the caller’s inbox is closed.',
  method: 'DELETE',
  path: '/v1/admin/presence',
  access: 'agent',
  stability: 'experimental',
  changesNothing: true,
  input: closedObject({}),
  output: closedObject({}),

  async handle(context) {
    const { accountId, workspaceId } = context.caller
    if (await endPresence(context.db, { accountId, workspaceId })) {
      await publishToInboxes(context, workspaceId, { type: 'presence', memberId: accountId })
    }
    return {}
  },
})
