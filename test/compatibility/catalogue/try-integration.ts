import type { Connection } from '../../../cli/connection.ts'
import { sampleOf } from './sample.ts'

/** The behaviour of an integration on a bot of its own, with values of no account. */
export interface Trial {
  registered: boolean
  /** Why it did not register: its service was not reached, or refused the values. */
  reason: string
  /** The time of the installation with `register`, from no isolate. */
  milliseconds: number
  /** Whether its handler ran for a request to its webhook. */
  handled: boolean
  /** The hosts that its code asked for and that are not granted. */
  askedHosts: string[]
}

const pollMilliseconds = 100
const handlerMilliseconds = 15_000

/** Installs an integration on a new bot, sends a request to its webhook, and deletes the bot. */
export async function tryIntegration(api: Connection, integrationId: string): Promise<Trial> {
  const { integration } = await api.ask<'getIntegration'>('GET', `/v1/admin/integrations/${integrationId}`)
  const { bot } = await api.ask<'createBot'>('POST', '/v1/admin/bots', { body: {} })
  try {
    const started = performance.now()
    const installation = {
      integrationId,
      enabled: true,
      configuration: sampleOf({ type: 'object', ...integration.configuration.schema }),
    }
    const { bot: installed } = await api.ask<'updateBot'>('PUT', `/v1/admin/bots/${bot.id}`, {
      body: { integrations: { tried: installation } },
    })
    const milliseconds = performance.now() - started
    const { status, statusReason, webhookUrl } = installed.integrations['tried']!
    await fetch(webhookUrl, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }).catch(
      () => {},
    )
    const handled = await hasHandled(api, bot.id)
    const reason = statusReason ?? ''
    const askedHosts = hostsIn(reason + (await recordsOf(api, bot.id)))
    return { registered: status === 'registered', reason, milliseconds, handled, askedHosts }
  } finally {
    await api.ask<'deleteBot'>('DELETE', `/v1/admin/bots/${bot.id}`)
  }
}

/** Whether the code of the integration ran for its webhook, however that ended. */
async function hasHandled(api: Connection, botId: string): Promise<boolean> {
  const deadline = Date.now() + handlerMilliseconds
  while (Date.now() < deadline) {
    const { events } = await api.ask<'listBotEvents'>('GET', `/v1/admin/bots/${botId}/events`)
    const webhook = events.find(({ type }) => type === 'webhook_received')
    if (webhook && webhook.status !== 'pending') {
      const { event } = await api.ask<'getBotEvent'>('GET', `/v1/admin/bots/${botId}/events/${webhook.id}`)
      return event.runs.some(({ steps }) => steps.some(({ kind }) => kind === 'hook'))
    }
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds))
  }
  return false
}

/** All that the platform has recorded of a bot: its log, and the steps of its events. */
export async function recordsOf(api: Connection, botId: string): Promise<string> {
  const { events } = await api.ask<'listBotEvents'>('GET', `/v1/admin/bots/${botId}/events`)
  const details = await Promise.all(
    events.map(({ id }) => api.ask<'getBotEvent'>('GET', `/v1/admin/bots/${botId}/events/${id}`)),
  )
  const logs = await api.ask<'getBotLogs'>('GET', `/v1/admin/bots/${botId}/logs`, {
    query: { timeStart: new Date(0).toISOString(), timeEnd: new Date().toISOString() },
  })
  return JSON.stringify([details, logs])
}

/** The hosts of requests that were refused. */
export function hostsIn(text: string): string[] {
  const refused = text.matchAll(/([\w-]+(?:\.[\w-]+)+) may not be requested/g)
  return [...new Set(Array.from(refused, ([, host]) => host!))].toSorted()
}
