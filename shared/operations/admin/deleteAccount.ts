import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteAccountRow } from '../../store/accounts.ts'
import { lockSoleOwnerships } from '../../store/members.ts'
import { transact } from '../../store/database.ts'

export const deleteAccount = operation({
  name: 'deleteAccount',
  description:
    'Deletes the account of the token with its memberships, tokens and preferences. Audit records and versions of bots ' +
    'stay. Refused while it is the only owner of a workspace.',
  method: 'POST',
  path: '/v1/admin/account/me',
  access: 'account',
  errors: ['ReferenceConstraint', 'ResourceLockedConflict'],
  input: closedObject({}),
  output: closedObject({}),

  async handle({ db, caller }) {
    await transact(db, async (transaction) => {
      const owned = await lockSoleOwnerships(transaction, caller.accountId)
      if (owned.length > 0) {
        const names = owned.map(({ id, name }) => `'${name}' (${id})`).join(', ')
        throw new ApiError(
          'ReferenceConstraint',
          `You are the only owner of ${names}: give another member the role owner, or delete the workspace`,
        )
      }
      if (!(await deleteAccountRow(transaction, caller.accountId))) {
        throw new ApiError('ResourceLockedConflict', 'You have just become a member of another workspace: try again')
      }
    })
    return {}
  },
})
