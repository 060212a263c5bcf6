import { closedObject } from '../../schema.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import type { BotContext } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { ApiError, postgresCode, uniqueViolation, notFound } from '../../errors.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { findWorkspaceOf } from '../../store/bots.ts'
import { listInstallations } from '../../store/installations.ts'
import { configureInstalledIntegration, type IntegrationConfiguration } from '../../store/registrations.ts'
import { schedules, type InstallationRow } from '../../models/tables.ts'

export const configureIntegration = operation({
  name: 'configureIntegration',
  description: 'Configures an installed integration, which is the caller. Absent fields stay unchanged.',
  method: 'POST',
  path: '/v1/chat/integrations/configure',
  access: 'bot',
  stability: 'documented',
  errors: ['AlreadyExists'],
  isClosed: true,
  input: closedObject(
    {},
    {
      identifier: {
        type: ['string', 'null'],
        maxLength: 200,
        description:
          'Identifies this installation among all installations of the integration; null removes the identifier.',
      },
      scheduleRegisterCall: {
        enum: schedules,
        description: 'The schedule of calls of `register()`.',
      },
      sandboxIdentifiers: {
        type: ['object', 'null'],
        additionalProperties: false,
        properties: {},
        description: 'Experimental; null removes all.',
      },
    },
  ),
  output: closedObject({}),

  async handle(context, input) {
    const { identifier, scheduleRegisterCall: schedule, sandboxIdentifiers } = input
    // Calls that an earlier version of the platform has recorded do not name it.
    const { configured } = await once<{ configured?: Configured }>(context, input, async (db) => {
      const within = { ...context, db }
      const installation = context.caller.installation ?? (await onlyInstallation(within))
      if (typeof identifier === 'string') await assertMayIdentify(within, installation)
      await configure(db, installation, {
        ...(identifier !== undefined && { identifier }),
        ...(schedule !== undefined && { schedule }),
        ...(sandboxIdentifiers !== undefined && { sandboxIdentifiers: sandboxIdentifiers && {} }),
      })
      const { id, bot_id, webhook_id } = installation
      return { configured: { id, bot_id, webhook_id } }
    })
    if (configured) {
      await context.installations.changed(configured.webhook_id)
      await wakeWorker(context, 'configure-integration', configured.id, configured.bot_id)
    }
    return {}
  },
})

type Configured = Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'>

type Named = Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id' | 'alias' | 'integration_workspace_id'>

/**
 * An identifier is unique among the installations of all workspaces, and decides whose bot gets the requests to the address of
 * the integration. Of another workspace's integration, only its own code and keys may choose one: they know whose account
 * it is.
 *
 * @throws ApiError `Forbidden`
 */
async function assertMayIdentify({ db, caller }: BotContext, { alias, integration_workspace_id: owner }: Named) {
  if (caller.installation && !caller.isNamed) return
  if (owner === (await findWorkspaceOf(db, caller.botId))) return
  throw new ApiError(
    'Forbidden',
    `The integration '${alias}' is of another workspace: only its own code and its own keys may set its identifier`,
  )
}

async function configure(
  db: Context['db'],
  { id, bot_id: botId, alias }: Named,
  configuration: IntegrationConfiguration,
): Promise<void> {
  try {
    const isInstalled = await configureInstalledIntegration(db, { botId, id }, configuration)
    if (!isInstalled) throw notFound(`Integration '${alias}'`, 'it is no longer installed on the bot')
  } catch (error) {
    if (postgresCode(error) !== uniqueViolation) throw error
    throw new ApiError(
      'AlreadyExists',
      `Another installation of the integration has the identifier '${configuration.identifier}': choose another`,
      { cause: error },
    )
  }
}

/** The only integration of the bot, for a call that names none. The chat is part of the platform and does not count. */
async function onlyInstallation({ db, caller }: BotContext): Promise<Named> {
  const installed = (await listInstallations(db, caller.botId)).filter(({ integration_id: id }) => id !== null)
  const [first, ...others] = installed
  if (!first) {
    throw new ApiError('InvalidPayload', 'The bot has no integration to configure: install one with updateBot')
  }
  if (others.length === 0) return first
  const choice = installed.map(({ integration_id: id, alias }) => `${id} (alias ${alias})`).join(', ')
  throw new ApiError(
    'InvalidPayload',
    `The bot has several integrations: name one in x-integration-id, with its x-integration-alias if necessary: ${choice}`,
  )
}
