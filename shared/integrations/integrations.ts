import type { PlatformSecret } from '../secrets.ts'
import { ApiError } from '../errors.ts'
import { UntrustedSchema } from '../code/untrusted-schema.ts'
import { storedLength } from '../json/exponents.ts'
import { builtInIntegration, builtInOf, isChat, isInbox, isWebchat } from '../models/chat-integration.ts'
import type { ChatConfiguration } from '../models/chat-configuration.ts'
import { anyObject } from '../models/definition.ts'
import type { integrationDefinitionSchema } from '../models/integration.ts'
import type { Infer } from '../schema.ts'
import { decryptInstallation } from '../store/installations.ts'
import { keepIntegrations, type ShownIntegration } from '../store/integrations.ts'
import { findInstallable } from './public-integrations.ts'
import type { Database } from '../store/database.ts'
import type { InstallationRow } from '../models/tables.ts'
import { planBuiltIn, planChat, refused, type BuiltInChange, type Installable } from './built-in.ts'

/** The settings of a bot's installations that an administrator may change. */
export const integrations = {
  type: 'object',
  // Beside the installations that a bot may have, those that it had, which published clients remove.
  maxProperties: 100,
  description:
    'Installations by alias, or by the integration’s id. Absent installations stay unchanged; null removes one with its ' +
    'users and conversations. The chat is part of every bot: null does not change it.',
  additionalProperties: {
    type: 'object',
    nullable: true,
    additionalProperties: false,
    properties: {
      integrationId: {
        type: 'string',
        description: 'The integration to install under this alias, or another version of the installed one.',
      },
      enabled: { type: 'boolean', description: 'Default for a new installation: true.' },
      configurationType: {
        type: 'string',
        nullable: true,
        description: 'The name of one of the integration’s configurations.',
      },
      configuration: {
        ...anyObject,
        description:
          'Replaces the whole configuration; absent: no change. A caller to whom the configuration is not shown, and ' +
          'who sends `{}`, does not change it either.',
      },
      disabledChannels: { type: 'array', maxItems: 100, items: { type: 'string' } },
    },
  },
} as const

type InstallationSettings = NonNullable<Infer<typeof integrations>[string]>

/** The planned change of one installation. */
export type InstallationChange =
  | BuiltInChange
  | { kind: 'remove'; present: InstallationRow }
  | {
      kind: 'install'
      /** Absent for a new one. */
      present: InstallationRow | undefined
      /** Absent for a new one, and when it cannot be decrypted. */
      formerConfiguration: Record<string, unknown> | undefined
      alias: string
      integration: ShownIntegration
      enabled: boolean
      configurationType: string | null
      configuration: Record<string, unknown>
      disabledChannels: string[]
    }

const aliasPattern = /^[a-z][a-zA-Z0-9_/-]{0,199}$/
/** Upper bound of a configuration, in characters of its JSON. */
const longestConfiguration = 20_000

const maxInstalled = 30

/** The workspace and the present installations of the bot whose installations change. */
export interface InstallationContext {
  db: Database
  workspaceId: string
  /** The platform's secret. */
  secret: PlatformSecret
  /** Whether the caller reads the secrets of configurations. */
  showsSecrets: boolean
  /** All installations that the bot has. */
  present: InstallationRow[]
}

/**
 * Plans the changes of a bot's installations.
 *
 * @param given settings by alias or id, as an administrator sent them
 * @throws ApiError `InvalidPayload`, `ReferenceNotFound`, `InvalidDataFormat` or `InvalidJsonSchema`, naming the entry;
 *   `LimitExceeded` when the bot would have too many
 */
export async function planInstallations(
  context: InstallationContext,
  given: Infer<typeof integrations>,
): Promise<InstallationChange[]> {
  // No installation is named twice, so a longer list is refused before anything is looked up for it.
  const named = Object.values(given).filter((settings) => settings !== null).length
  if (named > Math.max(maxInstalled, context.present.length)) throw tooMany()
  const changes = new Map<string, InstallationChange>()
  for (const [name, settings] of Object.entries(given)) {
    const change = settings ? await planChange(context, name, settings) : planRemoval(context, name)
    if (!change) continue
    const key = 'alias' in change ? change.alias : change.present.alias
    const other = changes.get(key)
    if (other && other.kind !== 'remove' && change.kind !== 'remove') {
      throw refused(name, 'occurs twice, by its alias and by its id: name it once')
    }
    // Old clients name installations by id, and remove the aliases that they do not know.
    if (!other || other.kind === 'remove') changes.set(key, change)
  }
  const planned = [...changes.values()]
  const added = planned.filter((change) => 'alias' in change && !change.present).length
  const removed = planned.filter(({ kind }) => kind === 'remove').length
  if (added > 0 && context.present.length + added - removed > maxInstalled) {
    throw tooMany()
  }
  return planned
}

function tooMany(): ApiError {
  return new ApiError('LimitExceeded', `A bot has at most ${maxInstalled} integrations, the chat included`)
}

function planRemoval({ present }: InstallationContext, name: string): InstallationChange | undefined {
  const installation = findNamed(present, name)
  // Published clients remove all installations that a bot's definition does not name, and no definition names the chat.
  if (!installation || isChat(installation)) return undefined
  return { kind: 'remove', present: installation }
}

async function planChange(
  context: InstallationContext,
  given: string,
  givenSettings: InstallationSettings,
): Promise<InstallationChange> {
  const { name, settings } = byAlias(given, givenSettings)
  const builtIn = settings.integrationId === undefined ? undefined : builtInOf(settings.integrationId)
  const named = settings.integrationId
    ? context.present.find(({ alias }) => alias === name)
    : findNamed(context.present, name)
  const installed = named && (isWebchat(named) || isInbox(named)) ? (named.integration as Installable) : undefined
  const installable = installed ?? (builtIn === builtInIntegration ? undefined : builtIn)
  if (installable) return planBuiltIn(installable, named, name, await withHiddenSecrets(context, named, settings))
  if (builtIn && named?.integration_id !== null) {
    throw refused(
      name,
      `is not '${builtInIntegration}', the alias that the chat has on every bot: install it under that one`,
    )
  }
  if (named && !named.integration_id) return planChat(named, name, await withHiddenSecrets(context, named, settings))
  return planIntegration(context, { name, named, settings })
}

/** A change of an installation whose integration is not built in, or a new one. */
async function planIntegration(
  context: InstallationContext,
  { name, named, settings }: { name: string; named: InstallationRow | undefined; settings: InstallationSettings },
): Promise<InstallationChange> {
  const integration = await findVersionFor(context, name, settings.integrationId ?? named?.integration_id ?? undefined)
  const alias = named?.alias ?? (settings.integrationId ? name : integration.name)
  const present = named ?? context.present.find((one) => one.alias === alias)
  if (present && present.integration !== integration.name) {
    throw refused(
      name,
      `is the alias of an installation of ${present.integration}: remove that installation first, or choose another alias`,
    )
  }
  if (!aliasPattern.test(alias)) {
    throw refused(name, 'is not a valid alias: use a lower-case letter, then letters, digits, _, - and /')
  }
  const formerConfiguration = present && (await readConfiguration(context, present, settings))
  const {
    enabled = present?.enabled ?? true,
    configurationType = present?.configuration_type ?? null,
    disabledChannels = present?.disabled_channels ?? [],
  } = settings
  const isKept = keepsConfiguration(context, present, { ...settings, configurationType })
  if (isKept && present?.integration_workspace_id !== integration.workspace_id) {
    assertMayHandOn(context, name, present, formerConfiguration)
  }
  const configuration = (isKept ? formerConfiguration : undefined) ?? settings.configuration ?? {}
  assertShort(name, configuration)
  // The configuration of a disabled installation may be incomplete.
  const completed = enabled ? validated(name, integration, configurationType, configuration) : configuration
  // The limit includes the defaults that validation has filled in.
  assertShort(name, completed)
  return {
    kind: 'install',
    present,
    formerConfiguration,
    alias,
    integration,
    enabled,
    configurationType,
    configuration: completed,
    disabledChannels,
  }
}

/** Whether settings leave the configuration as it is: by naming none, or by writing back what those see who may not read it. */
function keepsConfiguration(
  { showsSecrets }: InstallationContext,
  present: InstallationRow | undefined,
  { configuration, configurationType }: InstallationSettings,
): boolean {
  if (configuration === undefined) return true
  return !showsSecrets && isEmpty(configuration) && configurationType === (present?.configuration_type ?? null)
}

/**
 * @throws ApiError when a configuration would pass to code of another workspace, which may be the caller's own and would show
 *   the caller what only administrators may read
 */
function assertMayHandOn(
  { showsSecrets }: InstallationContext,
  name: string,
  present: InstallationRow | undefined,
  configuration: Record<string, unknown> = {},
): void {
  if (showsSecrets || isEmpty(configuration)) return
  throw refused(
    name,
    `has a configuration for the integration ${present?.integration} of another workspace, which only an administrator may hand ` +
      'on: send a whole configuration, or ask an administrator to change the integration',
  )
}

/** Old clients name a built-in integration by the id of its version alone. */
function byAlias(name: string, settings: InstallationSettings): { name: string; settings: InstallationSettings } {
  const alias = settings.integrationId === undefined ? builtInOf(name) : undefined
  return alias === undefined ? { name, settings } : { name: alias, settings: { ...settings, integrationId: name } }
}

/** Whether a configuration is what those are shown who may not read it. */
function isEmpty(configuration: object | undefined): boolean {
  return configuration !== undefined && Object.keys(configuration).length === 0
}

function assertShort(name: string, configuration: Record<string, unknown>): void {
  if (storedLength(JSON.stringify(configuration)) <= longestConfiguration) return
  throw refused(`${name}.configuration`, `is longer than ${longestConfiguration} characters: shorten it`)
}

/** @param id the given one, or that of the installed integration; without either, `name` is taken as an id */
async function findVersionFor(
  { db, workspaceId, present }: InstallationContext,
  name: string,
  id: string | undefined,
): Promise<ShownIntegration> {
  // Its workspace may be making it private, or deleting it.
  await keepIntegrations(db, [id ?? name])
  const integration = await findInstallable(db, workspaceId, id ?? name)
  if (integration) return integration
  if (id)
    throw new ApiError('ReferenceNotFound', `integrations.${name}: integration '${id}' not found in the workspace`)
  const aliases = present.map(({ alias }) => `'${alias}'`).join(', ')
  throw refused(name, `is not installed: the bot has ${aliases}. To install an integration, set integrationId`)
}

/**
 * The settings of a built-in integration with its present secrets, when the caller cannot read these: a configuration that
 * was read, changed and written back must not open a chat. The secret of a webhook stays with its address, so that it is
 * sent to no other.
 */
async function withHiddenSecrets(
  context: InstallationContext,
  present: InstallationRow | undefined,
  settings: InstallationSettings,
): Promise<InstallationSettings> {
  const { configuration } = settings
  if (context.showsSecrets || !configuration || !present || present.integration_id !== null) return settings
  const former: ChatConfiguration = (await readConfiguration(context, present, settings)) ?? {}
  const { encryptionKey, webhookSecret } = former
  const keepsWebhook = former.webhookUrl === configuration['webhookUrl']
  const hidden = {
    ...(encryptionKey !== undefined && { encryptionKey }),
    ...(webhookSecret !== undefined && keepsWebhook && { webhookSecret }),
  }
  return { ...settings, configuration: { ...hidden, ...configuration } }
}

/** A configuration that cannot be decrypted, because the secret has changed, can still be replaced. */
async function readConfiguration(
  { secret }: InstallationContext,
  installation: InstallationRow,
  { configuration }: InstallationSettings,
): Promise<Record<string, unknown> | undefined> {
  try {
    return (await decryptInstallation(installation, secret)).configuration
  } catch (error) {
    if (configuration === undefined) throw error
    return undefined
  }
}

function validated(
  name: string,
  { definition }: ShownIntegration,
  type: string | null,
  configuration: Record<string, unknown>,
): Record<string, unknown> {
  const { configuration: own, configurations = {} }: Infer<typeof integrationDefinitionSchema> = definition
  const declared = type === null ? (own ?? {}) : Object.hasOwn(configurations, type) && configurations[type]
  if (!declared) {
    const choice = Object.keys(configurations).join(', ') || 'none'
    throw refused(
      `${name}.configurationType`,
      `is '${type}': choose one of the integration’s configurations (${choice})`,
    )
  }
  const field = `integrations.${name}.configuration`
  const validated = new UntrustedSchema(declared.schema ?? {}, `the schema of ${field}`).validate(configuration)
  if ('problem' in validated) throw new ApiError('InvalidDataFormat', `${field}: ${validated.problem}`)
  return validated.completed
}

function findNamed(present: InstallationRow[], name: string): InstallationRow | undefined {
  const byName = present.find(
    ({ alias, id, integration, integration_id: integrationId }) =>
      alias === name || id === name || (integrationId === null && builtInOf(name) === integration),
  )
  if (byName) return byName
  const [first, ...others] = present.filter(({ integration_id: id }) => id === name)
  if (others.length > 0) throw refused(name, 'is installed more than once: name each by its alias')
  return first
}
