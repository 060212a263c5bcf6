import { randomBytes } from 'node:crypto'
import type { Platform } from './platform.ts'

export interface Installed {
  integrationId: string
  alias: string
  webhookId: string
  webhookUrl: string
  status: string
  statusReason: string | null
}

interface Options {
  alias?: string
  configuration?: object
  /** Definition of the integration, apart from its code. */
  definition?: object
}

/** Creates an integration from this code and installs it on a bot, as administrators do. */
export async function installCode(platform: Platform, botId: string, code: string, options: Options = {}) {
  const { alias = 'tool', configuration = {}, definition } = options
  const name = `tool-${randomBytes(6).toString('hex')}`
  const integration = { name, version: '1.0.0', code, ...definition }
  const created = await platform.ask('POST', '/v1/admin/integrations', integration)
  if (created.status !== 200) throw new Error(`createIntegration: ${JSON.stringify(created.body)}`)
  const integrationId: string = created.body.integration.id
  const integrations = { [alias]: { integrationId, enabled: true, configuration } }
  const updated = await platform.ask('PUT', `/v1/admin/bots/${botId}`, { integrations })
  if (updated.status !== 200) throw new Error(`updateBot: ${JSON.stringify(updated.body)}`)
  const { webhookId, webhookUrl, status, statusReason } = updated.body.bot.integrations[alias]
  const installed: Installed = { integrationId, alias, webhookId, webhookUrl, status, statusReason }
  return installed
}

/** The bot's log, oldest first: `level message`. */
export async function logOf(platform: Platform, botId: string): Promise<string[]> {
  const rows = await platform.context.db('logs').where({ bot_id: botId }).orderBy('id')
  return rows.map(({ level, message }) => `${level} ${message}`)
}
