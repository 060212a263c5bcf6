import { closedObject } from '../../schema.ts'
import { invitation, toInvitation } from '../../models/invitation.ts'
import { operation } from '../../rpc/operation.ts'
import { findOpenInvitation } from './open-invitation.ts'

export const getInvitation = operation({
  name: 'getInvitation',
  description: 'Returns the workspace and the role of an invitation, to its holder, while it can be accepted.',
  method: 'GET',
  path: '/v1/admin/account/invitation',
  access: 'invitee',
  stability: 'experimental',
  errors: ['ResourceGone', 'ResourceNotFound'],
  input: closedObject({}),
  output: invitation,

  async handle({ db, caller }) {
    return toInvitation(await findOpenInvitation(db, caller.invitation))
  },
})
