import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { ensureAdministrator } from '#shared/bootstrap.ts'
import { openDatabase } from '#shared/store/database.ts'
import { startChild } from '../../cli/children.ts'
import { freePort } from '../../cli/free-port.ts'
import { migrate } from '../../migrations/migrate.ts'
import { poolSize, untilReady, workerConcurrency, type Chat, type System, type SystemOptions } from './system.ts'

const repository = resolve(import.meta.dirname, '..', '..')

const echoBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: 'You said ' + event.preview },
      })
    },
  }
`

/** Starts our side: the api and the worker as an operator would, with a bot that echoes. */
export async function startIsobot(options: SystemOptions): Promise<System> {
  const { servers, backEnd, conversations, nodeOptions, parts } = options
  const databaseUrl = await servers.postgres.createDatabase(`isobot_on_${backEnd}`)
  await migrate(databaseUrl)
  const token = randomBytes(32).toString('hex')
  const workspaceId = await administrator(databaseUrl, token)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const environment = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL: String(poolSize),
    ...(backEnd === 'redis' && { REDIS_URL: servers.redis.url, REDIS_PREFIX: 'isobot' }),
    ISOBOT_SECRET: randomBytes(32).toString('hex'),
    ISOBOT_ADMIN_TOKEN: token,
    PORT: String(port),
    HOST: '127.0.0.1',
    ISOBOT_BASE_URL: url,
    LOG_LEVEL: 'silent',
    WORKER_CONCURRENCY: String(workerConcurrency),
    SANDBOX_PROCESSES: '1',
  }
  const start = async (name: string, script: string) => {
    const command = [process.execPath, ...nodeOptions, join(repository, script)] as const
    const child = await startChild(name, command, { directory: repository, environment })
    parts.defer(async () => void (await child.stop()))
    return child.pid
  }
  const processes = { api: await start('api', 'api/main.ts'), worker: await start('worker', 'worker/main.ts') }
  await untilReady(url)

  const { bot } = await post<{ bot: { integrations: { chat: { webhookUrl: string } } } }>(
    `${url}/v1/admin/bots`,
    { name: 'Echo', code: echoBot },
    { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId },
  )
  const chatUrl = bot.integrations.chat.webhookUrl
  const chats = []
  for (let count = 0; count < conversations; count++) chats.push(await openChat(chatUrl))
  return { chatUrl, chats, databaseUrl, processes }
}

async function administrator(databaseUrl: string, token: string): Promise<string> {
  const db = openDatabase({ url: databaseUrl, poolSize: 1, allowSelfSigned: false })
  try {
    return await ensureAdministrator(db, token)
  } finally {
    await db.destroy()
  }
}

async function openChat(chatUrl: string): Promise<Chat> {
  const { key } = await post<{ key: string }>(`${chatUrl}/users`, {})
  const { conversation } = await post<{ conversation: { id: string } }>(
    `${chatUrl}/conversations`,
    {},
    { 'x-user-key': key },
  )
  return { conversationId: conversation.id, key }
}

async function post<Answer>(url: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${url} gave ${response.status}: ${text}`)
  return JSON.parse(text) as Answer
}
