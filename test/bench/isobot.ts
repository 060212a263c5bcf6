import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { openDatabase } from '#shared/store/database.ts'
import { startChild } from '../../cli/start/children.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { migrate } from '../../migrations/migrations.ts'
import {
  poolSize,
  queuePoolSize,
  untilReady,
  workerConcurrency,
  type Chat,
  type StreamServer,
  type System,
  type SystemOptions,
} from './system.ts'

const repository = resolve(import.meta.dirname, '..', '..')

/** @param before code that the hook runs before its reply */
export const echoBot = (before = '') => `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      ${before}
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: 'You said ' + event.preview },
      })
    },
  }
`

const welcomingBot = `
  export const hooks = {
    async afterIncomingEvent({ event, client }) {
      if (event.type !== 'webchat:conversationStarted') return
      const { conversationId } = event
      await client.createMessage({ conversationId, type: 'text', payload: { text: 'Welcome' } })
    },
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: 'You said ' + event.preview },
      })
    },
  }
`

/** Starts our side: the api and the worker as an operator would, with an echo bot. */
export async function startIsobot(options: SystemOptions): Promise<System> {
  const isobot = await prepare(`isobot_on_${options.backEnd}`, options)
  const processes = { api: await isobot.start('api'), worker: await isobot.start('worker') }
  const { chatUrl } = await isobot.createBot({ name: 'Echo', code: echoBot() })
  const chats = await openChats(chatUrl, options.conversations)
  return { chatUrl, chats, repliesIn: 'stream', databaseUrl: isobot.databaseUrl, processes }
}

/** A platform with several bots. */
export interface BotsHost {
  databaseUrl: string
  bots: { id: string; chatUrl: string; chats: Chat[] }[]
  /** Process ids of the api and the first worker. */
  processes: { api: number; worker: number }
  countWaiting(): Promise<number>
  /** Starts another worker, and returns its process id. */
  startWorker(): Promise<number>
  /** Sends a GET request as the administrator; `botId` names the bot where a bot is the caller. */
  get<Answer>(path: string, botId: string): Promise<Answer>
}

/**
 * Starts the api and one worker, with several bots.
 *
 * @param environment variables that replace the default ones
 */
export async function startBots(
  database: string,
  bots: { code: string; flows?: object[] | undefined; conversations: number }[],
  options: SystemOptions,
  environment: NodeJS.ProcessEnv = {},
): Promise<BotsHost> {
  const isobot = await prepare(database, options, environment)
  const processes = { api: await isobot.start('api'), worker: await isobot.start('worker') }
  const started = []
  for (const { code, flows, conversations } of bots) {
    const { id, chatUrl } = await isobot.createBot({ name: 'Bot', code, ...(flows && { flows }) })
    started.push({ id, chatUrl, chats: await openChats(chatUrl, conversations) })
  }
  const countWaiting = async () => {
    const db = openDatabase({ url: isobot.databaseUrl, poolSize: 1, allowSelfSigned: false })
    try {
      const [row] = await db('events').where({ status: 'pending' }).count()
      return Number(row!['count'])
    } finally {
      await db.destroy()
    }
  }
  return {
    databaseUrl: isobot.databaseUrl,
    bots: started,
    processes,
    countWaiting,
    startWorker: () => isobot.start('worker'),
    get: (path, botId) => isobot.request('GET', path, undefined, { 'x-bot-id': botId }),
  }
}

/** Starts our api alone, with a bot that has no code. */
export async function startApi(database: string, options: SystemOptions): Promise<StreamServer> {
  const isobot = await prepare(database, options)
  const pid = await isobot.start('api')
  const { chatUrl } = await isobot.createBot({ name: 'Silent' })
  return { chatUrl, chats: await openChats(chatUrl, options.conversations), pid }
}

/** A platform whose bots are called from outside, through their actions. */
export interface BotHost {
  /** Makes another bot with this code. */
  createBot(code: string): Promise<{ call(action: string, input: object): Promise<unknown> }>
  workerPid: number
}

/** Starts the api and the worker without any bot. */
export async function startBotHost(
  database: string,
  environment: NodeJS.ProcessEnv,
  options: SystemOptions,
): Promise<BotHost> {
  const isobot = await prepare(database, options, environment)
  await isobot.start('api')
  const workerPid = await isobot.start('worker')
  return {
    workerPid,
    async createBot(code) {
      const { id } = await isobot.createBot({ name: 'Bot', code })
      return {
        async call(type, input) {
          const path = '/v1/chat/actions'
          const { output } = await isobot.ask<{ output: unknown }>(path, { type, input }, { 'x-bot-id': id })
          return output
        },
      }
    },
  }
}

/** A platform with an echo bot, and a workspace beside the bot's own. */
export interface UploadHost {
  chatUrl: string
  chats: Chat[]
  /** Makes another bot with this code and other fields, in one of the two workspaces. */
  upload(who: 'neighbour' | 'hostile', bot: { code: string } & Record<string, unknown>): Promise<Response>
}

/** Starts the api and the worker, for uploads. */
export async function startUploadHost(database: string, options: SystemOptions): Promise<UploadHost> {
  const isobot = await prepare(database, options)
  await isobot.start('api')
  await isobot.start('worker')
  const { chatUrl } = await isobot.createBot({ name: 'Echo', code: echoBot() })
  const other = await isobot.ask<{ id: string }>('/v1/admin/workspaces', { name: 'Other' })
  return {
    chatUrl,
    chats: await openChats(chatUrl, options.conversations),
    async upload(who, bot) {
      const own = who === 'hostile' ? { 'x-workspace-id': other.id } : {}
      const response = await isobot.send('/v1/admin/bots', { name: 'Bot', ...bot }, own)
      await response.arrayBuffer()
      return response
    },
  }
}

/** A platform with an echo bot, whose conversations a member can answer. */
export interface HandoverHost {
  chatUrl: string
  chats: Chat[]
  /** Gives a conversation to the member. */
  takeOver(conversationId: string): Promise<void>
  /** Sends a text as the member. */
  reply(conversationId: string, text: string): Promise<void>
}

/** Starts the api and the worker, for a member. */
export async function startHandoverHost(database: string, options: SystemOptions): Promise<HandoverHost> {
  const isobot = await prepare(database, options)
  await isobot.start('api')
  await isobot.start('worker')
  const { id, chatUrl } = await isobot.createBot({ name: 'Echo', code: echoBot() })
  const pathOf = (conversationId: string) => `/v1/admin/bots/${id}/conversations/${conversationId}`
  return {
    chatUrl,
    chats: await openChats(chatUrl, options.conversations),
    async takeOver(conversationId) {
      await isobot.ask(`${pathOf(conversationId)}/handover`, {})
    },
    async reply(conversationId, text) {
      await isobot.ask(`${pathOf(conversationId)}/messages`, { type: 'text', payload: { text } })
    },
  }
}

/** A platform with a provider of language models. */
export interface ModelHost {
  url: string
  /** Headers of requests as a bot. */
  headers: Record<string, string>
  createBot(code: string): Promise<ModelBot>
}

/** A bot in conversation with one user. */
export interface ModelBot {
  chatUrl: string
  chat: Chat
  say(text: string): Promise<void>
  /** Milliseconds of processor time of its events so far, the oldest first. */
  processorTimes(): Promise<number[]>
}

/** Starts the api and the worker, for bots that ask models. */
export async function startModelHost(
  database: string,
  options: SystemOptions,
  environment: NodeJS.ProcessEnv,
): Promise<ModelHost> {
  const isobot = await prepare(database, options, environment)
  await isobot.start('api')
  await isobot.start('worker')
  const { id } = await isobot.createBot({ name: 'Bot' })
  return {
    url: isobot.url,
    headers: { ...isobot.headers, 'x-bot-id': id },
    async createBot(code) {
      const bot = await isobot.createBot({ name: 'Bot', code })
      const [chat] = await openChats(bot.chatUrl, 1)
      return {
        chatUrl: bot.chatUrl,
        chat: chat!,
        async say(text) {
          const { conversationId, key } = chat!
          const response = await fetch(`${bot.chatUrl}/messages`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-user-key': key },
            body: JSON.stringify({ conversationId, payload: { type: 'text', text } }),
          })
          if (response.status !== 201) throw new Error(`A message was answered with ${response.status}`)
          await response.arrayBuffer()
        },
        async processorTimes() {
          const path = `/v1/admin/bots/${bot.id}/events`
          const { events } = await isobot.request<{ events: { cpuMilliseconds?: number }[] }>('GET', path)
          return events.flatMap(({ cpuMilliseconds }) => cpuMilliseconds ?? []).toReversed()
        },
      }
    },
  }
}

/** A user who listens to a bot: resolves when parts of messages, and messages, arrive. */
export interface StreamListener {
  /** @returns when the next part of a message arrived, by the clock of `performance` */
  untilDelta(): Promise<number>
  untilMessage(): Promise<void>
}

/** Opens the stream of a bot's conversation. It ends with the process. */
export async function listenToStreams({ chatUrl, chat: { conversationId, key } }: ModelBot): Promise<StreamListener> {
  let onDelta: ((at: number) => void) | undefined
  let onMessage: (() => void) | undefined
  const response = await fetch(`${chatUrl}/conversations/${conversationId}/listen`, { headers: { 'x-user-key': key } })
  if (response.status !== 200) throw new Error(`A stream was answered with ${response.status}`)
  const read = async () => {
    let unread = ''
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const at = performance.now()
      const blocks = (unread + part).split('\n\n')
      unread = blocks.pop() ?? ''
      for (const block of blocks) {
        if (block.includes('message_stream_delta')) {
          onDelta?.(at)
          onDelta = undefined
        } else if (block.includes('"message_created"') && !block.includes('"isBot":false')) {
          onMessage?.()
        }
      }
    }
  }
  // The platform ends the stream when it stops.
  void read().catch(() => {})
  return {
    untilDelta: () => new Promise((resolve) => (onDelta = resolve)),
    untilMessage: () => new Promise((resolve) => (onMessage = resolve)),
  }
}

/** A platform with a bot that has no code, and no worker. */
export interface TableHost {
  databaseUrl: string
  url: string
  /** Headers of requests as the bot. */
  headers: Record<string, string>
  /** Of the api. */
  pid: number
  /** Sends a POST request as the bot. */
  ask<Answer>(path: string, body: object): Promise<Answer>
  startWorker(): Promise<number>
}

/** Starts the api alone, for the bot's tables. */
export async function startTableHost(
  database: string,
  options: SystemOptions,
  environment: NodeJS.ProcessEnv = {},
): Promise<TableHost> {
  const isobot = await prepare(database, options, environment)
  const pid = await isobot.start('api')
  const { id } = await isobot.createBot({ name: 'Bot' })
  const own = { 'x-bot-id': id }
  const { databaseUrl, url } = isobot
  return {
    databaseUrl,
    url,
    headers: { ...isobot.headers, ...own },
    pid,
    ask: (path, body) => isobot.ask(path, body, own),
    startWorker: () => isobot.start('worker'),
  }
}

/** A platform with a bot that has no code, for the bot's files. */
export interface FileHost {
  databaseUrl: string
  /** The api's process. */
  pid: number
  /** Creates a file without content. @returns its upload address */
  createFile(key: string, fields?: object): Promise<string>
  /** Sends a GET request as the bot. */
  ask<Answer>(path: string): Promise<Answer>
}

/** Starts the api, and a worker only on request. */
export async function startFileHost(
  database: string,
  options: SystemOptions,
  environment: NodeJS.ProcessEnv,
  { worker = false } = {},
): Promise<FileHost> {
  const isobot = await prepare(database, options, environment)
  const pid = await isobot.start('api')
  const { id } = await isobot.createBot({ name: 'Bot' })
  if (worker) await isobot.start('worker')
  const bot = { 'x-bot-id': id }
  return {
    databaseUrl: isobot.databaseUrl,
    pid,
    async createFile(key, fields) {
      const body = { key, size: 0, ...fields }
      const { file } = await isobot.request<{ file: { uploadUrl: string } }>('PUT', '/v1/files', body, bot)
      return file.uploadUrl
    },
    ask: (path) => isobot.request('GET', path, undefined, bot),
  }
}

/** A platform with an echo bot on web pages, which welcomes visitors. */
export interface WebchatHost {
  url: string
  webchatUrl: string
  chatUrl: string
  chats: Chat[]
}

/** Starts the api and the worker, for a browser. */
export async function startWebchatHost(database: string, options: SystemOptions): Promise<WebchatHost> {
  const isobot = await prepare(database, options, { WEBCHAT_RATE_LIMIT_VISITOR: '100000' })
  await isobot.start('api')
  await isobot.start('worker')
  const { id, chatUrl } = await isobot.createBot({ name: 'Echo', code: welcomingBot })
  const { integration } = await isobot.request<{ integration: { id: string } }>(
    'GET',
    '/v1/admin/hub/integrations/webchat/0.3.0',
  )
  const webchat = { integrationId: integration.id, enabled: true, configuration: {} }
  const { bot } = await isobot.request<{ bot: { integrations: { webchat: { webhookUrl: string } } } }>(
    'PUT',
    `/v1/admin/bots/${id}`,
    { integrations: { webchat } },
  )
  const webchatUrl = asLocalhost(bot.integrations.webchat.webhookUrl)
  return { url: asLocalhost(isobot.url), webchatUrl, chatUrl, chats: await openChats(chatUrl, options.conversations) }
}

/** An address by the name of the benchmark's site: browsers may refuse storage to frames of others. */
function asLocalhost(address: string): string {
  return address.replace('127.0.0.1', 'localhost')
}

interface Isobot {
  databaseUrl: string
  url: string
  /** Headers of the administrator. */
  headers: Record<string, string>
  /** Starts a process and returns its id. */
  start(name: 'api' | 'worker'): Promise<number>
  /** Creates a bot when the api is ready; returns it with its chat URL. */
  createBot(bot: { name: string; code?: string }): Promise<{ id: string; chatUrl: string }>
  /** Sends a POST request as the administrator. */
  ask<Answer>(path: string, body: object, headers?: Record<string, string>): Promise<Answer>
  /** As `ask`, with any method. */
  request<Answer>(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>
  /** As `ask`, for any answer. */
  send(path: string, body: object, headers?: Record<string, string>): Promise<Response>
}

/** @param variables environment variables that replace the default ones */
async function prepare(
  database: string,
  { servers, backEnd, nodeOptions, parts }: SystemOptions,
  variables: NodeJS.ProcessEnv = {},
): Promise<Isobot> {
  const databaseUrl = await servers.postgres.createDatabase(database)
  await migrate(databaseUrl)
  const token = randomBytes(32).toString('hex')
  const workspaceId = await administrator(databaseUrl, token)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const environment = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL: String(poolSize),
    QUEUE_POOL: String(queuePoolSize),
    ...(backEnd === 'redis' && { REDIS_URL: servers.redis.url, REDIS_PREFIX: database }),
    ISOBOT_SECRET: randomBytes(32).toString('hex'),
    ISOBOT_ADMIN_TOKEN: token,
    PORT: String(port),
    HOST: '127.0.0.1',
    ISOBOT_BASE_URL: url,
    LOG_LEVEL: 'silent',
    CHAT_RATE_LIMIT_USER: '0',
    CHAT_RATE_LIMIT_INSTALLATION: '0',
    WORKER_CONCURRENCY: String(workerConcurrency),
    SANDBOX_PROCESSES: '1',
    ...variables,
  }
  const own = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
  const requestHere: Isobot['request'] = (method, path, body, headers) =>
    request(method, `${url}${path}`, body, { ...own, ...headers })
  const ask: Isobot['ask'] = (path, body, headers) => requestHere('POST', path, body, headers)
  return {
    ask,
    request: requestHere,
    send: (path, body, headers) => send('POST', `${url}${path}`, body, { ...own, ...headers }),
    databaseUrl,
    url,
    headers: own,
    async start(name) {
      const command = [process.execPath, ...nodeOptions, join(repository, name, 'main.js')] as const
      const child = await startChild(name, command, { directory: repository, environment })
      parts.defer(async () => void (await child.stop()))
      return child.pid
    },
    async createBot(fields) {
      await untilReady(url)
      const { bot } = await ask<{ bot: { id: string; integrations: { chat: { webhookUrl: string } } } }>(
        '/v1/admin/bots',
        fields,
      )
      return { id: bot.id, chatUrl: bot.integrations.chat.webhookUrl }
    },
  }
}

async function administrator(databaseUrl: string, token: string): Promise<string> {
  const db = openDatabase({ url: databaseUrl, poolSize: 1, allowSelfSigned: false })
  try {
    return await ensureAdministrator(db, token)
  } finally {
    await db.destroy()
  }
}

async function openChats(chatUrl: string, count: number): Promise<Chat[]> {
  const chats = []
  while (chats.length < count) chats.push(await openChat(chatUrl))
  return chats
}

async function openChat(chatUrl: string): Promise<Chat> {
  const { key } = await request<{ key: string }>('POST', `${chatUrl}/users`, {})
  const { conversation } = await request<{ conversation: { id: string } }>(
    'POST',
    `${chatUrl}/conversations`,
    {},
    { 'x-user-key': key },
  )
  return { conversationId: conversation.id, key }
}

async function request<Answer>(
  method: string,
  url: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await send(method, url, body, headers)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url} gave ${response.status}: ${text}`)
  return JSON.parse(text) as Answer
}

function send(method: string, url: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  if (body === undefined) return fetch(url, { method, headers })
  return fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
}
