import { closedObject } from '../../schema.ts'
import { mergePatch } from '../../code/merge-patch.ts'
import { acceptSchemas } from '../../code/accept-schema.ts'
import { newId, newWebhookId } from '../../ids.ts'
import { inspectCode } from '../../code/inspect-code.ts'
import { botDefinitionSchema, type BotDefinition } from '../../models/bot-definition.ts'
import { warnings } from '../../models/bot-code.ts'
import { bot } from '../../models/bot.ts'
import { builtInIntegration } from '../../models/chat-integration.ts'
import { changeSecrets, mergeSecrets } from '../../store/named-secrets.ts'
import { operation } from '../../rpc/operation.ts'
import { insertBot } from '../../store/bots.ts'
import { transact } from '../../store/database.ts'
import { insertInstallation } from '../../store/installations.ts'
import { insertUser } from '../../store/users.ts'
import { assertAllowed } from './assert-allowed.ts'
import { assertUrl, codeUrl } from './assert-url.ts'
import { completeBot, planSchedules } from './complete-bot.ts'
import { botFields, describeChange } from './describe-bot.ts'
import { toUpload } from './to-upload.ts'
import { finishInstallations } from '../../integrations/install.ts'
import { assertPlugins, withPluginEvents } from '../../integrations/plugins.ts'

export const createBot = operation({
  name: 'createBot',
  description: 'Creates a bot with a chat installation, and deploys the given code, if any.',
  method: 'POST',
  awaitsWorker: true,
  path: '/v1/admin/bots',
  access: 'developer',
  errors: [
    'InvalidJsonSchema',
    'InvalidDataFormat',
    'ReferenceNotFound',
    'LimitExceeded',
    'RateLimited',
    'OperationTimeout',
  ],
  input: closedObject({}, { ...botFields, url: codeUrl }),
  output: closedObject({ bot }, { warnings }),

  async handle(context, input) {
    const { name, url, code, sourceMap, flows, layouts, note, permissions = {}, limits = {}, ...others } = input
    const { integrations = {}, recurringEvents = {}, secrets = {}, keepPrompts = false, ...rest } = others
    const { retention = {}, ...change } = rest
    const { db, caller, config } = context
    const { workspaceId } = caller
    assertAllowed(config, limits)
    assertUrl(config, url, change.dev === true)
    const definition: BotDefinition = mergePatch(botDefinitionSchema, {}, change)
    acceptSchemas(botDefinitionSchema, change)
    await assertPlugins(db, workspaceId, definition.plugins, change.plugins)
    const upload = toUpload({ code, sourceMap, flows, layouts }, undefined)
    const id = newId('bot')
    const loaded = await mergeSecrets(config.secret, { id, secrets: null }, secrets)
    const inspected = upload && (await inspectCode(context, workspaceId, { ...upload, limits, secrets: loaded }))
    const events = withPluginEvents(recurringEvents, {}, definition.plugins)
    const schedules = await planSchedules(db, inspected, events)
    const postCommitWork = await transact(db, async (transaction) => {
      await insertBot(transaction, {
        id,
        workspaceId,
        name: name ?? `bot-${id.slice(-6).toLowerCase()}`,
        permissions,
        limits,
        keepsPrompts: keepPrompts,
        retention,
        definition,
        url,
        secrets: await changeSecrets(config.secret, { id, secrets: null }, secrets),
      })
      // The bot is also a user: the author of its messages.
      await insertUser(transaction, { id, botId: id })
      await insertInstallation(transaction, {
        id: newId('int'),
        botId: id,
        integration: builtInIntegration,
        alias: builtInIntegration,
        webhookId: newWebhookId(),
      })
      return completeBot(context, transaction, id, {
        inspected,
        layouts: upload?.layouts,
        renamedNodes: null,
        note,
        recurringEvents: events,
        schedules,
        integrations,
      })
    })
    await finishInstallations(context, postCommitWork)
    return describeChange(context, id, inspected)
  },
})
