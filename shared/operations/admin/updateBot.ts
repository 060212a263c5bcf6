import { newId } from '../../ids.ts'
import { inspectBot } from '../../inspect-bot.ts'
import { bot } from '../../models/bot.ts'
import { operation } from '../../operation.ts'
import { deployVersion, findBot, updateBotFields } from '../../store/bots.ts'
import { configureInstallation, listInstallations } from '../../store/installations.ts'
import { botFields, describeBot, noSuchBot } from './describe-bot.ts'
import { newConfigurations } from './integrations.ts'

export const updateBot = operation({
  name: 'updateBot',
  description: 'Changes a bot. Code that is accepted becomes a new version and goes into service at once.',
  method: 'PUT',
  path: '/v1/admin/bots/{id}',
  access: 'developer',
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['id'],
    properties: { id: { type: 'string' }, ...botFields },
  },
  output: { type: 'object', additionalProperties: false, required: ['bot'], properties: { bot } },

  async handle(context, { id, name, code, permissions, integrations }) {
    const { db, caller, config, installations } = context
    if (!(await findBot(db, caller.workspaceId, id))) throw noSuchBot(id)
    const configurations = newConfigurations(await listInstallations(db, id), integrations)
    const inspected = code === undefined ? undefined : await inspectBot(context, caller.workspaceId, code)
    await db.transaction(async (transaction) => {
      const updated = await updateBotFields(transaction, caller.workspaceId, id, { name, permissions })
      if (!updated) throw noSuchBot(id)
      for (const { installation, configuration } of configurations) {
        await configureInstallation(transaction, config.secret, { botId: id, id: installation.id, configuration })
      }
      if (inspected) await deployVersion(transaction, { ...inspected, id: newId('botver'), botId: id })
    })
    for (const { installation } of configurations) await installations.changed(installation.webhook_id)
    return { bot: await describeBot(context, id) }
  },
})
