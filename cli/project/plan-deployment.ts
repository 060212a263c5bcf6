import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { diffLines } from '#shared/code/line-diff.ts'
import { compareFlows } from '#shared/flows/compare-flows.ts'
import type { Bot } from '#shared/models/bot.ts'
import type { Connection } from '../connection.ts'
import { misused } from '../failure.ts'
import { getBot } from '../find-bot.ts'
import { findIntegration } from '../integrations/find-integration.ts'
import type { Bundle } from './bundle.ts'
import { findOwnIntegration, isOtherDefinition, type BundledIntegration } from './own-integration.ts'
import type { DeclaredIntegration, Declarations } from './settings.ts'

/** A part of a bot that a deployment changes. */
export interface Change {
  /** As in isobot.json: `recurringEvents.nightly`. */
  field: string
  /** Absent for a new part. */
  from?: unknown
  /** Absent for a removed part. */
  to?: unknown
}

/** The changes of a deployment, and the fields of the request that makes them. */
export interface DeploymentPlan {
  changes: Change[]
  /** Declared secrets that the bot does not have: the deployment cannot set them. */
  missingSecrets: string[]
  /** Fields of `createBot` and `updateBot`, beside code, name and note. */
  fields: Record<string, unknown>
  /** Hosts to grant to integrations of the workspace. */
  grants: { id: string; name: string; net: string[] }[]
  /** Integrations of the project to create or update. */
  uploads: IntegrationUpload[]
}

export interface IntegrationUpload {
  /** The installations that get the id of the integration. */
  aliases: string[]
  integration: BundledIntegration
  /** Of the version that the workspace has; undefined for a new one. */
  id: string | undefined
  /** The hosts that its code may request. */
  net: string[]
  /** Whether the workspace has another one, or none. */
  differs: boolean
}

interface PlanOptions {
  /** The id of the bot; undefined for a new one. */
  id: string | undefined
  /** Whether the changes have those of code and flows. */
  comparesCode: boolean
}

/**
 * Compares what a project declares with what is in service.
 *
 * @throws Failure when an integration, or an environment variable, does not exist
 */
export async function planDeployment(
  connection: Connection,
  declared: Declarations,
  bundle: Bundle,
  { id, comparesCode }: PlanOptions,
): Promise<DeploymentPlan> {
  const { recurringEvents, integrations, subscriptions } = declared
  const isCompared = comparesCode || recurringEvents || integrations || subscriptions
  const bot = isCompared && id !== undefined ? await getBot(connection, id) : undefined
  const changes: Change[] = comparesCode ? await compareCode(connection, bundle, bot) : []
  const fields: Record<string, unknown> = {}
  for (const field of ['permissions', 'limits', 'retention'] as const) {
    const wanted = declared[field]
    if (!wanted) continue
    fields[field] = wanted
    if (!isDeepStrictEqual(bot?.[field] ?? {}, wanted)) changes.push(changeOf(field, bot?.[field], wanted))
  }
  planSubscriptions(declared, bot, changes, fields)
  planRecurringEvents(declared, bot, changes, fields)
  const { grants, uploads } = await planIntegrations(connection, declared, { bot, bundle }, changes, fields)
  const missingSecrets = (declared.secrets ?? [])
    .map((name) => name.replace(/^SECRET_/, ''))
    .filter((name) => !bot?.secrets.includes(name))
  return { changes, missingSecrets, fields, grants, uploads }
}

async function compareCode({ ask }: Connection, bundle: Bundle, bot: Bot | undefined): Promise<Change[]> {
  const hash = hashOf(bundle)
  if (!bot?.version) return [{ field: 'code', to: { hash } }]
  const { id, hash: former } = bot.version
  const { version } = await ask<'getBotVersion'>('GET', `/v1/admin/bots/${bot.id}/versions/${id}`)
  const changes: Change[] = []
  const isOther = version.code !== bundle.code
  if (isOther) {
    const lines = diffLines(version.code, bundle.code)
    const count = (side: 'added' | 'removed') => lines?.reduce((sum, change) => sum + change[side].length, 0)
    changes.push({
      field: 'code',
      from: { hash: former },
      to: { hash, added: count('added'), removed: count('removed') },
    })
  }
  // Flows that the code itself exports are part of the code here.
  const present = version.hasFlowsInCode ? [] : (version.flows ?? [])
  const { added, removed, changed } = compareFlows(JSON.stringify(present), JSON.stringify(bundle.flows ?? []))
  for (const flow of added) changes.push({ field: `flows.${flow}`, to: 'new' })
  for (const flow of changed) changes.push({ field: `flows.${flow}`, from: 'deployed', to: 'changed' })
  for (const flow of removed) changes.push({ field: `flows.${flow}`, from: 'deployed' })
  return changes
}

/** As the platform makes it of an upload. */
function hashOf({ code, flows = [] }: Pick<Bundle, 'code' | 'flows'>): string {
  const hash = createHash('sha256').update(code)
  if (flows.length > 0) hash.update('\0').update(JSON.stringify(flows))
  return hash.digest('hex')
}

function planSubscriptions(
  { subscriptions }: Declarations,
  bot: Bot | undefined,
  changes: Change[],
  fields: Record<string, unknown>,
): void {
  if (subscriptions?.events === undefined) return
  const wanted = subscriptions.events
  const present = Object.keys(bot?.subscriptions.events ?? {})
  const isAll = bot?.subscriptions.events === undefined || bot.subscriptions.events === null
  if (wanted === null ? isAll : !isAll && isDeepStrictEqual(present.toSorted(), wanted.toSorted())) return
  // Entries of a map are merged, so that those that are left out have to be removed.
  const removed = present.filter((type) => !wanted?.includes(type)).map((type) => [type, null] as const)
  const added = wanted?.map((type) => [type, {}] as const) ?? []
  fields['subscriptions'] = { events: wanted === null ? null : Object.fromEntries([...removed, ...added]) }
  changes.push({ field: 'subscriptions.events', from: isAll ? 'all' : present, to: wanted ?? 'all' })
}

function planRecurringEvents(
  { recurringEvents }: Declarations,
  bot: Bot | undefined,
  changes: Change[],
  fields: Record<string, unknown>,
): void {
  if (!recurringEvents) return
  const wanted = new Map<string, unknown>(Object.entries(recurringEvents))
  // Those of plugins are declared by the plugins.
  const hasPlugins = Object.keys(bot?.plugins ?? {}).length > 0
  for (const name of Object.keys(bot?.recurringEvents ?? {}))
    if (!hasPlugins && !wanted.has(name)) wanted.set(name, null)
  const changed: Record<string, unknown> = {}
  for (const [name, event] of wanted) {
    const present = bot?.recurringEvents[name] as { type: string; payload: unknown; schedule: unknown } | undefined
    const former = present && { schedule: present.schedule, type: present.type, payload: present.payload }
    if (isDeepStrictEqual(former ?? null, event)) continue
    changed[name] = event
    changes.push(changeOf(`recurringEvents.${name}`, former, event ?? undefined))
  }
  if (Object.keys(changed).length > 0) fields['recurringEvents'] = changed
}

async function planIntegrations(
  connection: Connection,
  { integrations = {} }: Declarations,
  { bot, bundle }: { bot: Bot | undefined; bundle: Bundle },
  changes: Change[],
  fields: Record<string, unknown>,
): Promise<Pick<DeploymentPlan, 'grants' | 'uploads'>> {
  const changed: Record<string, unknown> = {}
  const planned = new Map<string, PlannedIntegration>()
  for (const [alias, declared] of Object.entries(integrations)) {
    const own = bundle.integrations?.[declared.integration]
    const found = own
      ? await findOwnIntegration(connection, own)
      : await findIntegration(connection, declared.integration)
    const { name, version } = own?.definition ?? found!
    const integration = `${name}@${version}`
    const settings = settingsOf(alias, declared)
    const present = bot?.integrations[alias]
    if (!present || present.id !== found?.id || differs(present, settings)) {
      changed[alias] = { ...(found && { integrationId: found.id }), ...settings }
      changes.push(changeOfInstallation(alias, present, { ...declared, integration }))
    }
    // Several installations may be of one integration, which is uploaded once, and granted the hosts of all of them.
    const key = found?.id ?? integration
    planned.set(key, planVersion({ alias, declared, integration, own, found }, planned.get(key), changes))
  }
  if (Object.keys(changed).length > 0) fields['integrations'] = changed
  const grants: DeploymentPlan['grants'] = []
  const uploads: IntegrationUpload[] = []
  for (const { id, name, own, aliases, net, differs } of planned.values()) {
    if (own) uploads.push({ aliases, integration: own, id, net, differs })
    else if (id !== undefined && differs) grants.push({ id, name, net })
  }
  return { grants, uploads }
}

type Installed = Bot['integrations'][string]

/** Whether an installation has other settings than these. */
function differs(present: Installed, settings: ReturnType<typeof settingsOf>): boolean {
  const { enabled, configurationType, configuration } = settings
  return (
    isWanted(enabled, present.enabled) ||
    isWanted(configurationType, present.configurationType) ||
    (configuration !== undefined && !containsAll(present.configuration, configuration))
  )
}

function changeOfInstallation(alias: string, present: Installed | undefined, declared: DeclaredIntegration): Change {
  const { hosts: _hosts, ...shown } = declared
  const former = present && {
    integration: `${present.name}@${present.version}`,
    enabled: present.enabled,
    configuration: 'as deployed',
  }
  return changeOf(`integrations.${alias}`, former, shown)
}

interface DeclaredVersion {
  alias: string
  declared: DeclaredIntegration
  /** Its name and version. */
  integration: string
  own: BundledIntegration | undefined
  found: Awaited<ReturnType<typeof findOwnIntegration>>
}

/**
 * The version that an installation needs, with the hosts that it needs.
 *
 * @param others the plan for the other installations of this version
 * @param changes receives those of the hosts, and of the code of the project
 */
function planVersion(
  { alias, declared, integration, own, found }: DeclaredVersion,
  others: PlannedIntegration | undefined,
  changes: Change[],
): PlannedIntegration {
  if (own && others?.own && !isDeepStrictEqual(own, others.own)) {
    throw misused(
      `integrations.${alias} and integrations.${others.aliases[0]} are two integrations with the name and version ` +
        `${integration}: change one of them`,
    )
  }
  const granted = others?.net ?? found?.permissions.net ?? []
  const added = (declared.hosts ?? []).filter((host) => !granted.includes(host))
  const net = [...granted, ...added]
  if (added.length > 0) changes.push({ field: `integrations.${alias}.hosts`, from: granted, to: net })
  const compared = own && !others?.own ? compareIntegration(alias, own, found) : []
  changes.push(...compared)
  return {
    id: found?.id,
    name: integration,
    own: others?.own ?? own,
    aliases: [...(others?.aliases ?? []), alias],
    net,
    differs: others?.differs === true || added.length > 0 || compared.length > 0,
  }
}

/** One version of an integration that the project installs, to which a deployment may grant hosts, or which it uploads. */
interface PlannedIntegration {
  /** Undefined for a new one. */
  id: string | undefined
  name: string
  /** That of the project; undefined for one that the workspace has, or a public one. */
  own: BundledIntegration | undefined
  aliases: string[]
  net: string[]
  /** Whether it is another one than the present one, or has more hosts. */
  differs: boolean
}

/** The changes of the code and the definition of a project's own integration. */
function compareIntegration(
  alias: string,
  { code, definition }: BundledIntegration,
  found: Awaited<ReturnType<typeof findOwnIntegration>>,
): Change[] {
  const changes: Change[] = []
  const hash = hashOf({ code })
  if (hash !== found?.hash) {
    changes.push(changeOf(`integrations.${alias}.code`, found?.hash && { hash: found.hash }, { hash }))
  }
  if (found && isOtherDefinition(found, definition)) {
    changes.push({ field: `integrations.${alias}.definition`, from: 'deployed', to: 'changed' })
  }
  return changes
}

/** Whether a setting is declared, and is another one now. */
function isWanted<T>(declared: T | undefined, present: T | undefined): boolean {
  return declared !== undefined && !isDeepStrictEqual(declared, present)
}

/** The platform completes a configuration by the defaults of its schema, which are no difference. */
function containsAll(present: Record<string, unknown>, wanted: Record<string, unknown>): boolean {
  return Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(present[name], value))
}

function settingsOf(alias: string, { integration: _integration, hosts: _hosts, ...settings }: DeclaredIntegration) {
  const { configuration } = settings
  if (!configuration) return settings
  return { ...settings, configuration: withVariables(`integrations.${alias}.configuration`, configuration) }
}

/** Replaces `{ "env": "NAME" }` by the environment variable, at the first level of a configuration. */
function withVariables(path: string, configuration: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configuration).map(([name, value]) => {
      const variable = variableOf(value)
      if (variable === undefined) return [name, value]
      const text = process.env[variable]
      if (text === undefined) throw misused(`${path}.${name} is the environment variable ${variable}, which is not set`)
      return [name, text]
    }),
  )
}

function variableOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== 'env') return undefined
  const { env } = value as { env: unknown }
  return typeof env === 'string' ? env : undefined
}

function changeOf(field: string, from: unknown, to: unknown): Change {
  return { field, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}
