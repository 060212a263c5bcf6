import { ApiError } from '../../errors.ts'
import { closedObject } from '../../schema.ts'
import { account, toAccount } from '../../models/account.ts'
import { operation } from '../../rpc/operation.ts'
import { findAccount } from '../../store/accounts.ts'

export const getAccount = operation({
  name: 'getAccount',
  description: 'Returns the account of the token.',
  method: 'GET',
  path: '/v1/admin/account/me',
  access: 'account',
  input: closedObject({}),
  output: closedObject({ account }),

  async handle({ db, caller }) {
    const found = await findAccount(db, caller.accountId)
    if (!found) throw new ApiError('Unauthorized', 'The account of the token was deleted')
    return { account: toAccount(found) }
  },
})
