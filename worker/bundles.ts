import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Bundle, JsonObject } from '#sandbox/contract.ts'
import { integrationWebhookUrl } from '#shared/registration.ts'
import type { Context } from '#shared/context.ts'
import { findVersion } from '#shared/store/bots.ts'
import {
  findBotSettings,
  findInstalledIntegration,
  findIntegrationCode,
  type InstallationKey,
  type InstalledIntegration,
} from '#shared/store/code.ts'
import type { BotVersionRow, CodeKind } from '#shared/store/tables.ts'

interface Runnable {
  bundle: Bundle & { kind: CodeKind }
  /** JSON that leads positions in its stacks back to the source; empty where they are the same. */
  sourceMap: string
}

/** A version of a bot. */
export interface BotCode extends Runnable, Pick<BotVersionRow, 'hooks' | 'actions' | 'retry'> {
  /** What was configured of a bot made with the public SDK. */
  configuration: JsonObject
}

/** An integration's code, as it is installed on a bot. */
export interface IntegrationCode extends Runnable, Pick<InstalledIntegration, 'installation' | 'actions'> {}

/** Code as it runs for one bot. */
export type Code = BotCode | IntegrationCode

export interface Bundles {
  /** A version of a bot; undefined when the bot was deleted meanwhile. */
  ofBot(botId: string, versionId: string): Promise<BotCode | undefined>
  /** An integration that is installed on a bot; undefined when there is no such. */
  ofIntegration(botId: string, key: InstallationKey): Promise<IntegrationCode | undefined>
}

/** Where bundles of the public SDK look for the platform. The sandbox answers it; there is no such host. */
const platformUrl = 'https://api.isobot.internal'
/** Such bundles insist on a token. Who calls is known without one. */
const platformToken = 'not-needed'

/** Characters of code and source maps that a worker keeps at hand. */
const keptCharacters = 64 * 1024 * 1024

/** Keeps code at hand. What an id of code stands for never changes, so what is kept is never stale. */
export function openBundles({ db, config }: Pick<Context, 'db' | 'config'>): Bundles {
  const versions = new LRUCache<string, BotVersionRow>({ maxSize: keptCharacters, sizeCalculation: size })
  const integrations = new LRUCache<string, Scripted>({ maxSize: keptCharacters, sizeCalculation: size })

  return {
    async ofBot(botId, versionId) {
      const version = versions.get(versionId) ?? (await findVersion(db, botId, versionId))
      if (!version) return undefined
      versions.set(versionId, version)
      const { kind, script, source_map: sourceMap, hooks, actions, retry } = version
      const declared = { hooks, actions, retry }
      if (kind === 'native') {
        return { bundle: { id: versionId, botId, kind, code: script }, sourceMap, ...declared, configuration: {} }
      }
      const settings = await findBotSettings(db, config.secret, botId)
      if (!settings) return undefined
      const environment = { ...sdkEnvironment, ...toVariables(settings.secrets) }
      const bundle = { id: `${versionId}/${hash(environment)}`, botId, kind, code: script, environment }
      return { bundle, sourceMap, ...declared, configuration: settings.configuration as JsonObject }
    },

    async ofIntegration(botId, key) {
      const installed = await findInstalledIntegration(db, config.secret, botId, key)
      if (!installed) return undefined
      const { installation, kind, codeId, actions, secrets } = installed
      const code = integrations.get(codeId) ?? (await findIntegrationCode(db, codeId))
      if (!code) throw new Error(`The code of the integration '${installation.alias}' has just been replaced`)
      integrations.set(codeId, code)
      const environment = {
        ...(kind === 'sdk' && {
          ...sdkEnvironment,
          BP_WEBHOOK_URL: integrationWebhookUrl(config, installation.webhook_id),
        }),
        ...toVariables(secrets),
      }
      const id = `${codeId}/${installation.id}/${hash(environment)}`
      return {
        bundle: { id, botId, kind, code: code.script, environment },
        sourceMap: code.source_map,
        installation,
        actions,
      }
    },
  }
}

const sdkEnvironment = { BP_API_URL: platformUrl, BP_TOKEN: platformToken, BP_LOG_FORMAT: 'json' }

type Scripted = Pick<BotVersionRow, 'script' | 'source_map'>

function size({ script, source_map: map }: Scripted): number {
  return script.length + map.length + 1
}

/** Secrets as code finds them in its environment. */
function toVariables(secrets: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`SECRET_${name}`, value]))
}

/** Two environments never share an isolate. */
function hash(environment: Record<string, string>): string {
  return createHash('sha256').update(JSON.stringify(environment)).digest('base64url')
}
