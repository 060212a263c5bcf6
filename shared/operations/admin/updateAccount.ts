import { ApiError } from '../../errors.ts'
import { closedObject } from '../../schema.ts'
import { account, accountFields, toAccount } from '../../models/account.ts'
import { operation } from '../../rpc/operation.ts'
import { findAccount, updateAccountFields } from '../../store/accounts.ts'

export const updateAccount = operation({
  name: 'updateAccount',
  description: 'Changes the name and the picture of the token’s account.',
  method: 'PUT',
  path: '/v1/admin/account/me',
  access: 'account',
  input: closedObject({}, accountFields),
  output: closedObject({ account }),

  async handle({ db, caller }, { displayName, profilePicture }) {
    await updateAccountFields(db, caller.accountId, { name: displayName, pictureUrl: profilePicture })
    const changed = await findAccount(db, caller.accountId)
    if (!changed) throw new ApiError('Unauthorized', 'The account of the token was deleted')
    return { account: toAccount(changed) }
  },
})
