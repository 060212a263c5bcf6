import { hasRole, type Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import type { InspectedCode } from '../../code/inspect-code.ts'
import { ApiError, notFound } from '../../errors.ts'
import { codeLimit, permissions, sourceMap } from '../../models/bot-code.ts'
import { botDefinition, recurringEvents, type BotDefinition } from '../../models/bot-definition.ts'
import { versionDescription } from '../../models/bot-version.ts'
import { flowLayout, maxFlows } from '../../flows/flow.ts'
import { limits } from '../../config/code-limits.ts'
import { keepPrompts, toBot, type Bot } from '../../models/bot.ts'
import { warningsOfBot } from '../../models/bot-warnings.ts'
import { secrets } from '../../models/definition.ts'
import { retention } from '../../models/retention.ts'
import { readSecrets } from '../../store/named-secrets.ts'
import { findBot, findDeployedVersion } from '../../store/bots.ts'
import { disabledCode } from '../../store/disabled-code.ts'
import { decryptInstallation, listInstallations } from '../../store/installations.ts'
import { describePlugins } from '../../integrations/plugins.ts'
import { listInstalledIntegrations } from '../../store/integrations.ts'
import { listRecurringEvents } from '../../store/recurring-events.ts'
import { integrations } from '../../integrations/integrations.ts'

/** The fields of a bot that an administrator may set. */
export const botFields = {
  ...botDefinition,
  name: { type: 'string', minLength: 1, maxLength: 200 },
  code: {
    type: 'string',
    maxLength: codeLimit,
    description:
      'One ES module, TypeScript or JavaScript, that exports `hooks` and `actions`, or a bundle of the public SDK.',
  },
  sourceMap,
  flows: {
    type: 'array',
    maxItems: maxFlows,
    items: { type: 'object' },
    description:
      'The flows of the bot. Without `code`, those beside the deployed code change; code without `flows` keeps them; ' +
      'an empty list removes them.',
  },
  layouts: {
    type: 'object',
    maxProperties: maxFlows,
    additionalProperties: flowLayout,
    description: 'The positions of nodes in pictures of the flows, by flow and node. They have no effect on runs.',
  },
  note: {
    ...versionDescription,
    description: 'The changes in `code`, in a few words: the `description` of its version. Only with `code`.',
  },
  permissions,
  limits,
  keepPrompts,
  retention,
  recurringEvents,
  integrations,
  secrets,
} as const

/**
 * A bot with all its fields; only administrators and owners receive the secrets of its installations.
 * @throws ApiError `ResourceNotFound` when the workspace has none with that id
 */
export async function describeBot(context: Context & { caller: Administrator }, id: string): Promise<Bot> {
  const { db, caller, config } = context
  const [bot, version, rows, installed, recurringEvents, disabledReasons] = await Promise.all([
    findBot(db, caller.workspaceId, id),
    findDeployedVersion(db, id),
    listInstallations(db, id),
    listInstalledIntegrations(db, id),
    listRecurringEvents(db, id),
    disabledCode(db, id),
  ])
  if (!bot) throw noSuchBot(id)
  const { plugins: declared }: BotDefinition = bot.definition
  const plugins = await describePlugins(db, caller.workspaceId, declared)
  const { secret, http } = config
  const installations = await Promise.all(rows.map((row) => decryptInstallation(row, secret)))
  const secretNames = Object.keys(await readSecrets(secret, bot))
  return toBot(
    { bot, version, installations, integrations: installed, recurringEvents, plugins, secretNames, disabledReasons },
    { baseUrl: http.baseUrl, secret, showsSecrets: hasRole(caller, 'administrator') },
    config.retention.data,
  )
}

/**
 * The answer to an upload of a bot: the bot as above, and the warnings about the upload.
 *
 * @param inspected the uploaded code; absent when the upload has none
 */
export async function describeChange(
  context: Context & { caller: Administrator },
  id: string,
  inspected: InspectedCode | undefined,
): Promise<{ bot: Bot; warnings?: string[] }> {
  const bot = await describeBot(context, id)
  const warnings = [...(inspected?.warnings ?? []), ...warningsOfBot(bot)]
  return { bot, ...(warnings.length > 0 && { warnings }) }
}

export function noSuchBot(id: string): ApiError {
  return notFound(`Bot '${id}'`)
}

/** Refuses a change of a bot whose rows may be gone already. */
export function isBeingDeleted(id: string): ApiError {
  return new ApiError(
    'ResourceLockedConflict',
    `Bot '${id}' is being deleted, or its deletion was interrupted. Repeat the deletion if the bot still exists`,
  )
}
