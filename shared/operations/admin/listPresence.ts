import { closedObject } from '../../schema.ts'
import { maxListedMembers, presentMember } from '../../models/presence.ts'
import { operation } from '../../rpc/operation.ts'
import { listPresences } from '../../store/presences.ts'

export const listPresence = operation({
  name: 'listPresence',
  description:
    `Lists the members of the workspace who may answer in conversations, at most ${maxListedMembers}: those who are ` +
    'online first.',
  method: 'GET',
  path: '/v1/admin/presence',
  access: 'agent',
  stability: 'experimental',
  input: closedObject({}),
  output: closedObject({ members: { type: 'array', items: presentMember } }),

  async handle({ db, caller }) {
    const rows = await listPresences(db, caller.workspaceId)
    return {
      members: rows.map(({ account_id: id, name, status, open_handovers: openHandovers, picture_url: pictureUrl }) => ({
        id,
        name,
        status,
        openHandovers,
        ...(pictureUrl !== null && { pictureUrl }),
      })),
    }
  },
})
