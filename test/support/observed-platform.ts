import { expect, vi } from 'vitest'
import { freePort } from '../../cli/postgres/free-port.ts'
import { createChatUser, type ChatUser } from './chat-client.ts'
import { startLoggedProcess, type LoggedProcess } from './logged-process.ts'
import { openPlatform, send, type DeployedBot, type Platform } from './platform.ts'
import { openReceiver, type Receiver } from './receiver.ts'

export const metricsToken = 'the-token-of-who-reads-figures'
export const botSecret = 'a-secret-that-only-the-bot-knows'

const code = (address: string) => `
  export const hooks = {
    async afterIncomingMessage({ event, client, env }) {
      if (event.preview === 'fail') throw new Error('It was told ' + env.SECRET_WEATHER)
      const response = await fetch('${address}/forecast?token=part-of-an-address')
      await client.createMessage({
        conversationId: event.conversationId, type: 'text', payload: { text: 'I heard ' + event.preview + response.status },
      })
    },
  }`

export interface ObservedPlatform extends AsyncDisposable {
  platform: Platform
  api: LoggedProcess
  worker: LoggedProcess
  apiUrl: string
  /** Receives the spans. */
  collector: Receiver
  /** Receives the bot's outbound requests. */
  outside: Receiver
  bot: DeployedBot
  chatUser: ChatUser
}

/** Starts an api and a worker as processes of their own, with full logs, tracing and metrics. */
export async function openObservedPlatform(): Promise<ObservedPlatform> {
  const parts = new AsyncDisposableStack()
  try {
    const fixture = await open(parts)
    return { ...fixture, [Symbol.asyncDispose]: () => parts.disposeAsync() }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

async function open(parts: AsyncDisposableStack): Promise<Omit<ObservedPlatform, keyof AsyncDisposable>> {
  const collector = parts.use(await openReceiver())
  const outside = parts.use(await openReceiver())
  const platform = parts.use(await openPlatform({ worker: false }))
  const port = await freePort()
  const apiUrl = `http://127.0.0.1:${port}`
  const environment = {
    ...platform.environment,
    PORT: String(port),
    ISOBOT_BASE_URL: apiUrl,
    LOG_LEVEL: 'trace',
    METRICS_TOKEN: metricsToken,
    METRICS_PORT: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
  }
  const api = parts.adopt(startLoggedProcess('api', environment), (open) => open.stop())
  const worker = parts.adopt(startLoggedProcess('worker', environment), (open) => open.stop())
  await Promise.all([untilLogged(api, 'Listening'), untilLogged(worker, 'Working')])
  const created = await send(
    'POST',
    `${apiUrl}/v1/admin/bots`,
    { code: code(outside.url), secrets: { WEATHER: botSecret }, permissions: { net: ['127.0.0.1'] } },
    { authorization: `Bearer ${platform.token}`, 'x-workspace-id': platform.workspaceId },
  )
  if (created.status !== 200) throw new Error(JSON.stringify(created.body))
  const { webhookId, webhookUrl: chatUrl } = created.body.bot.integrations.chat
  const bot = { id: created.body.bot.id, webhookId, chatUrl }
  const chatUser = await createChatUser(chatUrl)
  return { platform, api, worker, apiUrl, collector, outside, bot, chatUser }
}

function untilLogged(of: LoggedProcess, words: string): Promise<void> {
  return vi.waitFor(() => expect(of.lines().map(({ msg }) => msg)).toContain(words), { timeout: 30_000 })
}
