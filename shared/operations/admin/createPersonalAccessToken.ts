import { closedObject } from '../../schema.ts'
import { newId, newToken } from '../../ids.ts'
import { apiKey, toApiKey } from '../../models/api-key.ts'
import { operation } from '../../rpc/operation.ts'
import { hashToken } from '../../secrets.ts'
import { insertToken } from '../../store/tokens.ts'

export const createPersonalAccessToken = operation({
  name: 'createPersonalAccessToken',
  description: 'Creates a token with the rights of the caller. Only this answer contains its value.',
  method: 'POST',
  path: '/v1/admin/account/pats',
  access: 'account',
  errors: ['LimitExceeded', 'ResourceNotFound'],
  input: closedObject({ note: apiKey.properties.note }),
  output: closedObject({
    pat: closedObject({ ...apiKey.properties, value: { type: 'string' } }),
  }),

  async handle({ db, caller }, { note }) {
    const value = newToken()
    const token = { id: newId('pat'), hash: hashToken(value), note }
    return { pat: { ...toApiKey(await insertToken(db, token, { accountId: caller.accountId })), value } }
  },
})
