import { closedObject } from '../../schema.ts'
import { mergePatch } from '../../code/merge-patch.ts'
import { acceptSchemas } from '../../code/accept-schema.ts'
import { inspectCode } from '../../code/inspect-code.ts'
import { ApiError } from '../../errors.ts'
import { renamedNodes } from '../../flows/renamed-nodes.ts'
import { botDefinitionSchema, type BotDefinition } from '../../models/bot-definition.ts'
import { warnings } from '../../models/bot-code.ts'
import { bot } from '../../models/bot.ts'
import { changeSecrets, mergeSecrets } from '../../store/named-secrets.ts'
import { operation } from '../../rpc/operation.ts'
import { findBot, findDeployedUpload, lockBot, updateBotFields } from '../../store/bots.ts'
import { transact } from '../../store/database.ts'
import { assertAllowed } from './assert-allowed.ts'
import { assertUrl, codeUrl } from './assert-url.ts'
import { changeOwnTags } from './change-own-tags.ts'
import { changeNodes, removedNodes } from './change-nodes.ts'
import { assertHooksRemain } from './assert-code-remains.ts'
import { completeBot, planSchedules } from './complete-bot.ts'
import { botFields, describeChange, isBeingDeleted, noSuchBot } from './describe-bot.ts'
import { assertSameParts, ofOneVersion } from './of-one-version.ts'
import { toUpload } from './to-upload.ts'
import { finishInstallations } from '../../integrations/install.ts'
import { assertPluginCount, assertPlugins, withPluginEvents } from '../../integrations/plugins.ts'

export const updateBot = operation({
  name: 'updateBot',
  description:
    'Changes a bot. Accepted code becomes a new version and is deployed at once. Maps are merged; null removes an ' +
    'entry. Integrations are registered before the answer, which has the outcome. The code of a bot may change the `tags` of ' +
    'its own bot, and nothing else.',
  method: 'PUT',
  path: '/v1/admin/bots/{id}',
  access: 'developer',
  errors: [
    'ResourceNotFound',
    'InvalidJsonSchema',
    'InvalidDataFormat',
    'ReferenceNotFound',
    'BreakingChanges',
    'LimitExceeded',
    'RateLimited',
    'OperationTimeout',
    'ResourceLockedConflict',
  ],
  input: closedObject(
    { id: { type: 'string' } },
    {
      ...botFields,
      allowNoHooks: {
        type: 'boolean',
        description:
          'Whether `code` without hooks may replace a deployed version with hooks. Default: only if `code` has ' +
          'actions.',
      },
      renamed: renamedNodes,
      url: { ...codeUrl, nullable: true },
      allowRemovedNodes: {
        type: 'boolean',
        description:
          'Whether flows may lack nodes of the deployed version at which conversations wait. Default: true; the answer ' +
          'has their numbers.',
      },
    },
  ),
  output: closedObject({ bot }, { removedNodes, warnings }),
  handleForBot: changeOwnTags,

  async handle(context, input) {
    const { id, name, url, code, sourceMap, flows, layouts, note, permissions, limits, allowNoHooks, ...others } = input
    const { integrations = {}, recurringEvents = {}, secrets, renamed, allowRemovedNodes, ...rest } = others
    const { keepPrompts, retention, ...change } = rest
    const { db, caller, config } = context
    const { workspaceId } = caller
    assertAllowed(config, limits ?? {})
    const present = await findBot(db, workspaceId, id)
    if (!present) throw noSuchBot(id)
    // Refuses a definition that is too long before its schemas are examined.
    const before: BotDefinition = present.definition
    const after: BotDefinition = mergePatch(botDefinitionSchema, before, change)
    acceptSchemas(botDefinitionSchema, change)
    assertUrl(config, url, (change.dev ?? present.definition['dev']) === true)
    await assertPlugins(db, workspaceId, after.plugins, change.plugins)
    const sent = { code, sourceMap, flows, layouts }
    if (renamed && code === undefined && flows === undefined) {
      throw new ApiError('InvalidPayload', 'renamed: send it with code or flows')
    }
    const ownLimits = limits ?? present.limits
    const loaded = await mergeSecrets(config.secret, present, secrets)
    const { postCommitWork, removed, inspected } = await ofOneVersion(async () => {
      const deployed = await findDeployedUpload(db, id)
      const upload = toUpload(sent, deployed)
      const inspected =
        upload && (await inspectCode(context, workspaceId, { ...upload, limits: ownLimits, secrets: loaded }))
      const events = withPluginEvents(recurringEvents, before.plugins, after.plugins)
      const schedules = await planSchedules(db, inspected, events)
      const done = await transact(db, async (transaction) => {
        const row = await lockBot(transaction, workspaceId, id)
        if (!row) throw noSuchBot(id)
        // An integration that is installed now would be deleted without its unregister().
        if (row.deletion_began_at) throw isBeingDeleted(id)
        const wasDeployed = row.version_id !== (deployed?.versionId ?? null)
        if (upload && wasDeployed) await assertSameParts(transaction, id, sent, upload)
        const former: BotDefinition = row.definition
        const definition: BotDefinition = mergePatch(botDefinitionSchema, former, change)
        // Another request may have added some since.
        assertPluginCount(definition.plugins)
        await updateBotFields(transaction, workspaceId, id, {
          name,
          permissions,
          limits,
          keepsPrompts: keepPrompts,
          retention,
          url,
          definition,
          secrets: secrets && (await changeSecrets(config.secret, row, secrets)),
        })
        if (inspected) await assertHooksRemain(transaction, id, inspected, allowNoHooks)
        const nodes = inspected && (await changeNodes(transaction, id, inspected.flows, { renamed, allowRemovedNodes }))
        const postCommitWork = await completeBot(context, transaction, id, {
          inspected,
          layouts: upload?.layouts,
          renamedNodes: nodes?.renamed ?? null,
          note,
          recurringEvents: withPluginEvents(recurringEvents, former.plugins, definition.plugins),
          schedules,
          integrations,
        })
        return { postCommitWork, removed: nodes?.removed ?? [] }
      })
      return { ...done, inspected }
    })
    await finishInstallations(context, postCommitWork)
    return {
      ...(await describeChange(context, id, inspected)),
      ...(removed.length > 0 && { removedNodes: removed }),
    }
  },
})
