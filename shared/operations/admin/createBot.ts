import { newId, newWebhookId } from '../../ids.ts'
import { inspectBot } from '../../inspect-bot.ts'
import { bot } from '../../models/bot.ts'
import { operation } from '../../operation.ts'
import { deployVersion, insertBot } from '../../store/bots.ts'
import { configureInstallation, insertInstallation } from '../../store/installations.ts'
import { insertUser } from '../../store/users.ts'
import { botFields, describeBot } from './describe-bot.ts'
import { newConfigurations } from './integrations.ts'

export const createBot = operation({
  name: 'createBot',
  description: 'Creates a bot with a chat installation, and deploys its code when some is given.',
  method: 'POST',
  path: '/v1/admin/bots',
  access: 'developer',
  input: { type: 'object', additionalProperties: false, properties: botFields },
  output: { type: 'object', additionalProperties: false, required: ['bot'], properties: { bot } },

  async handle(context, { name, code, permissions, integrations }) {
    const { db, caller, config } = context
    const inspected = code === undefined ? undefined : await inspectBot(context, caller.workspaceId, code)
    const id = newId('bot')
    await db.transaction(async (transaction) => {
      await insertBot(transaction, {
        id,
        workspaceId: caller.workspaceId,
        name: name ?? `bot-${id.slice(-6).toLowerCase()}`,
        permissions: permissions ?? {},
      })
      // The bot is a user of its own: what it says bears its id.
      await insertUser(transaction, { id, botId: id })
      const chat = await insertInstallation(transaction, {
        id: newId('int'),
        botId: id,
        integration: 'chat',
        alias: 'chat',
        webhookId: newWebhookId(),
      })
      for (const { installation, configuration } of newConfigurations([chat], integrations)) {
        await configureInstallation(transaction, config.secret, { botId: id, id: installation.id, configuration })
      }
      if (inspected) await deployVersion(transaction, { ...inspected, id: newId('botver'), botId: id })
    })
    return { bot: await describeBot(context, id) }
  },
})
