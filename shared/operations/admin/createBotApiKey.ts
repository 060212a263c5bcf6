import { closedObject } from '../../schema.ts'
import { newId, newToken } from '../../ids.ts'
import { apiKey, toApiKey } from '../../models/api-key.ts'
import { operation } from '../../rpc/operation.ts'
import { hashToken } from '../../secrets.ts'
import { findBot } from '../../store/bots.ts'
import { insertToken } from '../../store/tokens.ts'
import { noSuchBot } from './describe-bot.ts'

export const createBotApiKey = operation({
  name: 'createBotApiKey',
  description: 'Creates a token that acts as this bot only. Only this answer contains its value.',
  method: 'POST',
  path: '/v1/admin/bots/baks',
  access: 'developer',
  errors: ['ResourceNotFound', 'LimitExceeded'],
  auditedFields: ['botId', 'note'],
  input: closedObject({ botId: { type: 'string' } }, { note: apiKey.properties.note }),
  output: closedObject({ ...apiKey.properties, value: { type: 'string' } }),

  async handle({ db, caller }, { botId, note = '' }) {
    if (!(await findBot(db, caller.workspaceId, botId))) throw noSuchBot(botId)
    const value = newToken('bak')
    const row = await insertToken(db, { id: newId('bak'), hash: hashToken(value), note }, { botId })
    return { ...toApiKey(row), value }
  },
})
