import { acceptSchemas, boundSchemas } from '../code/accept-schema.ts'
import { UntrustedSchema } from '../code/untrusted-schema.ts'
import { ApiError } from '../errors.ts'
import { storedLength } from '../json/exponents.ts'
import type { BotDefinition, RecurringEvents } from '../models/bot-definition.ts'
import {
  pluginDefinition,
  pluginDefinitionSchema,
  toPlugin,
  toPluginSummary,
  type DescribedPlugins,
  noPlugins,
  type InstalledPlugin,
  type Plugin,
} from '../models/plugin.ts'
import type { InterfaceRow } from '../models/tables.ts'
import type { Database } from '../store/database.ts'
import { findUsable } from './catalogue.ts'
import { backingEntities, dereferencePlugin, maxImplementations } from './dereference-plugin.ts'

type Plugins = NonNullable<BotDefinition['plugins']>
type PluginSettings = NonNullable<Plugins[string]>

const aliasPattern = /^[a-zA-Z][a-zA-Z0-9_/-]{0,199}$/
const maxPlugins = 30
/** Upper bound of a configuration, in characters of its JSON. */
const longestConfiguration = 20_000

/**
 * Refuses the JSON Schemas in a change of a plugin that cannot be used. The platform runs the configuration's alone; the
 * others describe.
 *
 * @param change valid by the schema of definitions, and no longer than a definition may be
 * @throws ApiError `InvalidJsonSchema` or `LimitExceeded`, with the schema's name and the position in it
 */
export function acceptPluginSchemas(change: Record<string, unknown>): void {
  boundSchemas(pluginDefinitionSchema, change)
  const { configuration } = JSON.parse(JSON.stringify(change), withoutEntity) as Record<string, unknown>
  acceptSchemas({ properties: { configuration: pluginDefinition.configuration } }, { configuration })
}

/** A reference to an entity of an interface is resolved where a bot has an integration behind the interface. */
function withoutEntity(_name: string, value: unknown): unknown {
  const { $ref } = (value ?? {}) as { $ref?: unknown }
  return typeof $ref === 'string' && $ref.startsWith('interface:') ? {} : value
}

/**
 * Checks the plugins that a change of a bot sets.
 *
 * @param after those of the changed bot, by alias
 * @param change by alias; null removes one
 * @throws ApiError `ReferenceNotFound` for a plugin or an integration that the workspace cannot use, `InvalidDataFormat`
 *   for a configuration that the plugin's schema refuses, `InvalidPayload`, `LimitExceeded`
 */
export async function assertPlugins(
  db: Database,
  workspaceId: string,
  after: Plugins = {},
  change: Plugins = {},
): Promise<void> {
  assertPluginCount(after)
  const merged = new Map(Object.entries(after))
  for (const [alias, given] of Object.entries(change)) {
    const settings = merged.get(alias)
    if (!given || !settings) continue
    const field = `plugins.${alias}`
    if (!aliasPattern.test(alias)) {
      throw new ApiError(
        'InvalidPayload',
        `${field}: begin the alias with a letter, then use letters, digits, _, - and /`,
      )
    }
    const row = await findUsable(db, 'plugins', workspaceId, settings.id)
    if (!row) throw new ApiError('ReferenceNotFound', `${field}: plugin '${settings.id}' not found`)
    const plugin = toPlugin(row)
    assertConfiguration(`${field}.configuration`, plugin, settings)
    for (const name of ['interfaces', 'integrations'] as const) {
      if (Object.keys(settings[name] ?? {}).length <= maxImplementations) continue
      throw new ApiError('LimitExceeded', `${field}.${name} has more than ${maxImplementations} entries`)
    }
    // Integrations that were set before may be deleted since: the plugin goes on without them.
    await backingEntities(db, workspaceId, plugin, implementationsOf(given))
  }
}

/** @throws ApiError `LimitExceeded` */
export function assertPluginCount(plugins: Plugins = {}): void {
  if (Object.keys(plugins).length <= maxPlugins) return
  throw new ApiError('LimitExceeded', `A bot has at most ${maxPlugins} plugins`)
}

function assertConfiguration(field: string, plugin: Plugin, { enabled = true, configuration = {} }: PluginSettings) {
  if (storedLength(JSON.stringify(configuration)) > longestConfiguration) {
    throw new ApiError('LimitExceeded', `${field} is longer than ${longestConfiguration} characters: shorten it`)
  }
  // The configuration of a disabled plugin may be incomplete.
  if (!enabled) return
  const schema = new UntrustedSchema(plugin.configuration.schema, `the schema of ${field}`)
  const validated = schema.validate(configuration)
  if ('problem' in validated) throw new ApiError('InvalidDataFormat', `${field}: ${validated.problem}`)
}

function implementationsOf({ interfaces = {} }: PluginSettings) {
  return Object.fromEntries(Object.entries(interfaces).flatMap(([name, one]) => (one ? [[name, one]] : [])))
}

/**
 * Describes the plugins of a bot. A plugin that no longer exists is left out: its code remains in the bot's bundle.
 *
 * @param plugins as the bot's definition has them
 */
export async function describePlugins(
  db: Database,
  workspaceId: string,
  plugins: Plugins | undefined,
): Promise<DescribedPlugins> {
  const described = noPlugins()
  for (const [alias, settings] of Object.entries(plugins ?? {})) {
    const row = settings && (await findUsable(db, 'plugins', workspaceId, settings.id))
    if (!row) continue
    const plugin = toPlugin(row)
    const entities = await backingEntities(db, workspaceId, plugin, implementationsOf(settings)).catch(ignoreUnusable)
    const { actions, events, states, user, conversation, message } = dereferencePlugin(plugin, entities)
    described.plugins[alias] = describe(row, plugin, settings)
    Object.assign(described.actions, prefixed(alias, actions))
    Object.assign(described.events, prefixed(alias, events))
    Object.assign(described.states, prefixed(alias, states))
    Object.assign(described.userTags, prefixed(alias, user.tags))
    Object.assign(described.conversationTags, prefixed(alias, conversation.tags))
    Object.assign(described.messageTags, prefixed(alias, message.tags))
  }
  return described
}

/** An integration that was deleted since has no entities any more, and a bot with too many of them is still shown. */
function ignoreUnusable(error: unknown) {
  const isUnusable = error instanceof ApiError && ['ReferenceNotFound', 'LimitExceeded'].includes(error.type)
  if (isUnusable) return new Map<string, Map<string, object>>()
  throw error
}

function prefixed<Value>(alias: string, map: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [`${alias}#${name}`, value]))
}

function describe(row: InterfaceRow, { dependencies }: Plugin, settings: PluginSettings): InstalledPlugin {
  const interfaces = Object.entries(implementationsOf(settings)).map(
    ([name, one]) =>
      [
        name,
        { integrationAlias: one.integrationId, ...one, interfaceId: dependencies.interfaces[name]?.id ?? '' },
      ] as const,
  )
  return {
    ...toPluginSummary(row),
    enabled: settings.enabled ?? true,
    configuration: settings.configuration ?? {},
    interfaces: Object.fromEntries(interfaces),
    integrations: Object.fromEntries(
      Object.entries(settings.integrations ?? {}).flatMap(([name, one]) => (one ? [[name, one]] : [])),
    ),
  }
}

/**
 * The change of a bot's recurring events with those of its plugins, which published clients know only as null, because
 * they find them in the bot and not in its definition.
 *
 * @param given of the bot itself
 */
export function withPluginEvents(
  given: RecurringEvents,
  before: Plugins | undefined,
  after: Plugins | undefined,
): RecurringEvents {
  const gone = Object.keys(eventsOf(before)).map((name) => [name, null] as const)
  return { ...Object.fromEntries(gone), ...given, ...eventsOf(after) }
}

function eventsOf(plugins: Plugins = {}): RecurringEvents {
  const events: RecurringEvents = {}
  for (const [alias, settings] of Object.entries(plugins)) {
    if (!settings || settings.enabled === false) continue
    for (const [name, event] of Object.entries(settings.definition?.recurringEvents ?? {})) {
      if (event) events[`${alias}#${name}`] = { ...event, type: `${alias}#${event.type}` }
    }
  }
  return events
}
