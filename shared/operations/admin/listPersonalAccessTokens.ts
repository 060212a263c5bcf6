import { closedObject } from '../../schema.ts'
import { apiKey, toApiKey } from '../../models/api-key.ts'
import { operation } from '../../rpc/operation.ts'
import { listTokens } from '../../store/tokens.ts'

export const listPersonalAccessTokens = operation({
  name: 'listPersonalAccessTokens',
  description: 'Lists the caller’s personal tokens, newest first, without their values.',
  method: 'GET',
  path: '/v1/admin/account/pats',
  access: 'account',
  input: closedObject({}),
  output: closedObject({ pats: { type: 'array', items: apiKey } }),

  async handle({ db, caller }) {
    return { pats: (await listTokens(db, { accountId: caller.accountId })).map(toApiKey) }
  },
})
