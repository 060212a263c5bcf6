import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { platformUrl, type Bundle } from '#sandbox/protocol/contract.ts'
import type { Context } from '#shared/context.ts'
import { summarizeFlows, type FlowSummary } from '#shared/flows/flow-summary.ts'
import { readSecrets } from '#shared/store/named-secrets.ts'
import { agentEnvironment, isAgent } from './agent-runtime.ts'
import { findVersion, type RunnableVersionRow } from '#shared/store/bots.ts'
import {
  findBotSettings,
  type BotSettings,
  findInstalledIntegration,
  findIntegrationCode,
  type InstallationKey,
  type InstalledIntegration,
} from '#shared/store/code.ts'
import type { BotVersionRow, CodeKind } from '#shared/models/tables.ts'

interface Runnable {
  bundle: Bundle & { kind: CodeKind }
  /** JSON that maps positions in stacks to the source; empty where they are the same. */
  sourceMap: string
  /** The address of code under development, which runs there. */
  url?: string
  /** Whether it is an agent of the published runtime, which has one event at a time. */
  isAgent?: boolean
}

/** A version of a bot. */
export interface BotCode extends Runnable, Pick<BotVersionRow, 'hooks' | 'actions' | 'retry'> {
  /** The version of the bot. */
  versionId: string
  /** The part of the bot's flows that the worker reads; undefined when it has none. */
  flows: FlowSummary | undefined
  /** Those of a bot made with the public SDK; other bots have none. */
  settings: BotSettings
}

/** An integration's code, as it is installed on a bot. */
export interface IntegrationCode
  extends Runnable, Pick<InstalledIntegration, 'installation' | 'actions' | 'disabledReason'> {}

/** Code as it runs for one bot. */
export type Code = BotCode | IntegrationCode

export interface Bundles {
  /**
   * A version of a bot; undefined when the bot was deleted meanwhile.
   * @param secrets of the bot, encrypted
   */
  ofBot(botId: string, versionId: string, secrets: string | null): Promise<BotCode | undefined>
  /** The code of a bot under development, at its address; undefined when the bot was deleted meanwhile. */
  ofDevelopedBot(botId: string, url: string): Promise<BotCode | undefined>
  /** An integration that is installed on a bot; undefined when it is not installed. */
  ofIntegration(botId: string, key: InstallationKey): Promise<IntegrationCode | undefined>
}

/** Bundles of the public SDK require a token. The platform identifies the caller without it. */
const platformToken = 'not-needed'

/** Maximum characters of code and source maps that a worker caches. */
const keptCharacters = 64 * 1024 * 1024

/** Maximum characters of encrypted secrets whose values a worker caches. */
const keptSecretCharacters = 8 * 1024 * 1024

/** Caches code. The code of an id never changes, so the cache is never stale. */
export function openBundles({ db, config }: Pick<Context, 'db' | 'config'>): Bundles {
  const versions = new LRUCache<string, Loaded>({ maxSize: keptCharacters, sizeCalculation: size })
  /** Environments of bots by their encrypted secrets, which differ whenever the secrets change. */
  const environments = new LRUCache<string, Record<string, string>>({
    maxSize: keptSecretCharacters,
    sizeCalculation: (_variables, encrypted) => encrypted.length,
  })
  const integrations = new LRUCache<string, Scripted>({ maxSize: keptCharacters, sizeCalculation: size })

  const readVariables = async (id: string, encrypted: string | null): Promise<Record<string, string>> => {
    if (encrypted === null) return {}
    const known = environments.get(encrypted)
    if (known) return known
    const variables = toVariables(await readSecrets(config.secret, { id, secrets: encrypted }))
    environments.set(encrypted, variables)
    return variables
  }

  return {
    async ofBot(botId, versionId, secrets) {
      const version = versions.get(versionId) ?? toLoaded(await findVersion(db, botId, versionId))
      if (!version) return undefined
      versions.set(versionId, version)
      const { kind, script, source_map: sourceMap, hooks, actions, retry, flows, isAgent } = version
      const declared = { hooks, actions, retry, flows, versionId }
      const variables = await readVariables(botId, secrets)
      const environment =
        kind === 'sdk' ? { ...sdkEnvironment, ...(isAgent && agentEnvironment), ...variables } : variables
      const id = `${versionId}/${hash(environment)}`
      const bundle = { id, botId, codeId: versionId, kind, code: script, environment }
      const settings = kind === 'sdk' ? await findBotSettings(db, botId) : noSettings
      return settings && { bundle, sourceMap, isAgent, ...declared, settings }
    },

    async ofDevelopedBot(botId, url) {
      const settings = await findBotSettings(db, botId)
      if (!settings) return undefined
      return {
        ...elsewhere(botId, botId, url),
        versionId: botId,
        hooks: [],
        actions: [],
        retry: null,
        flows: undefined,
        settings,
      }
    },

    async ofIntegration(botId, key) {
      const installed = await findInstalledIntegration(db, config.secret, botId, key)
      if (!installed) return undefined
      const { installation, kind, codeId, actions, secrets, disabledReason, url } = installed
      if (url !== null) return { ...elsewhere(botId, codeId, url), installation, actions, disabledReason }
      const code = integrations.get(codeId) ?? (await findIntegrationCode(db, codeId))
      if (!code) throw new Error(`The code of the integration '${installation.alias}' has just been replaced`)
      integrations.set(codeId, code)
      const environment = {
        ...(kind === 'sdk' && {
          ...sdkEnvironment,
          // Bundles append `/oauth`, the webhook id or `/integration/global/<name>` to it.
          BP_WEBHOOK_URL: config.http.baseUrl,
        }),
        ...toVariables(secrets),
      }
      const id = `${codeId}/${installation.id}/${hash(environment)}`
      return {
        bundle: { id, botId, codeId, installationId: installation.id, kind, code: code.script, environment },
        sourceMap: code.source_map,
        installation,
        actions,
        disabledReason,
      }
    },
  }
}

export const noSettings: BotSettings = { configuration: {}, tags: {} }

const sdkEnvironment = { BP_API_URL: platformUrl, BP_TOKEN: platformToken, BP_LOG_FORMAT: 'json' }

/** A version with a summary in the place of its flows, which only its script needs whole. */
type Loaded = Omit<RunnableVersionRow, 'flows'> & { flows: FlowSummary | undefined; isAgent: boolean }

function toLoaded(row: RunnableVersionRow | undefined): Loaded | undefined {
  if (row === undefined) return undefined
  const { flows, renamed_nodes: renamed, kind, script } = row
  return {
    ...row,
    isAgent: kind === 'sdk' && isAgent(script),
    flows: flows === null ? undefined : { ...summarizeFlows(flows), ...(renamed && { renamed }) },
  }
}

type Scripted = Pick<RunnableVersionRow, 'script' | 'source_map'>

function size({ script, source_map: map }: Scripted): number {
  return script.length + map.length + 1
}

/** The environment in which an upload is inspected: that of its runs. */
export function inspectionEnvironment(
  config: Context['config'],
  { kind, script }: { kind: CodeKind; script: string },
  secrets: Record<string, string>,
): Record<string, string> {
  if (kind !== 'sdk') return toVariables(secrets)
  return {
    ...sdkEnvironment,
    ...(isAgent(script) && agentEnvironment),
    BP_WEBHOOK_URL: config.http.baseUrl,
    ...toVariables(secrets),
  }
}

/** Code that the platform does not have: its author's machine runs it, with the environment there. */
function elsewhere(botId: string, codeId: string, url: string): Runnable {
  const bundle = { id: `${codeId}/elsewhere`, botId, codeId, kind: 'sdk' as const, code: '', environment: {} }
  return { bundle, sourceMap: '', url }
}

/** Secrets as environment variables of the code. */
function toVariables(secrets: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`SECRET_${name}`, value]))
}

/** Part of the bundle's id, so that code with different environments never shares an isolate. */
function hash(environment: Record<string, string>): string {
  return createHash('sha256').update(JSON.stringify(environment)).digest('base64url')
}
