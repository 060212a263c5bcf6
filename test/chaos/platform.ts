import { randomBytes } from 'node:crypto'
import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { openDatabase } from '#shared/store/database.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { send } from '../support/platform.ts'
import type { FaultTargets } from './faults.ts'
import { Member } from './members.ts'
import { openLink, type Link } from './network.ts'
import { openPostgres, openPostgresQueue, openRedis } from './servers.ts'
import type { Talk } from './talk.ts'

export interface PlatformOptions {
  backEnd: 'redis' | 'postgres'
  apis: number
  workers: number
  /** Settings of PostgreSQL, and environment variables. */
  settings: Record<string, string>
  environment: NodeJS.ProcessEnv
}

/** A platform of several processes, with servers of its own. */
export interface ChaosPlatform extends FaultTargets {
  apiUrls: string[]
  /** The database's URL, without a link. */
  databaseUrl(): string
  /** The headers of an administrator's requests. */
  headers: Record<string, string>
  /** Makes a bot of this code. Returns the path of its chat, and conversations with it. */
  openTalks(count: number, code: string): Promise<{ botId: string; chatPath: string; talks: Talk[] }>
}

/** Conversations per user. */
const conversationsOfUser = 5
const readyMilliseconds = 60_000

/** Starts the servers and the processes; each process has links of its own to the servers. */
export async function openChaosPlatform(options: PlatformOptions, parts: AsyncDisposableStack): Promise<ChaosPlatform> {
  const postgres = await openPostgres(parts, options.settings)
  const redis = options.backEnd === 'redis' ? await openRedis(parts) : undefined
  const databaseUrl = () => postgres.urlOn(postgres.port())
  const token = randomBytes(20).toString('hex')
  const workspaceId = await administrator(databaseUrl(), token)
  const environment = {
    ISOBOT_SECRET: randomBytes(32).toString('hex'),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'fatal',
    CHAT_RATE_LIMIT_USER: '0',
    CHAT_RATE_LIMIT_INSTALLATION: '0',
    SANDBOX_PROCESSES: '1',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...options.environment,
  }

  async function addMember(kind: Member['kind'], own: NodeJS.ProcessEnv = {}, front: Link[] = []): Promise<Member> {
    const toPostgres = parts.use(await openLink(() => postgres.port()))
    const toRedis = redis && parts.use(await openLink(() => redis.port()))
    const member = new Member({
      kind,
      links: [toPostgres, ...(toRedis ? [toRedis] : []), ...front],
      environment: {
        ...environment,
        ...own,
        DATABASE_URL: postgres.urlOn(toPostgres.port),
        ...(toRedis && { REDIS_URL: `redis://127.0.0.1:${toRedis.port}` }),
      },
    })
    await member.start()
    parts.defer(async () => void (await member.stop()))
    return member
  }

  const members: Member[] = []
  const apiUrls: string[] = []
  while (apiUrls.length < options.apis) {
    const port = await freePort()
    const front = parts.use(await openLink(() => port))
    members.push(await addMember('api', { PORT: String(port) }, [front]))
    apiUrls.push(`http://127.0.0.1:${front.port}`)
  }
  while (members.length < options.apis + options.workers) members.push(await addMember('worker'))
  await Promise.all(apiUrls.map(untilReady))

  const administratorHeaders = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
  return {
    members,
    postgres,
    redis,
    queue: redis ?? openPostgresQueue(postgres),
    apiUrls,
    databaseUrl,
    headers: administratorHeaders,
    async openTalks(count, code) {
      const bots = `${apiUrls[0]}/v1/admin/bots`
      const created = await send('POST', bots, { code }, administratorHeaders)
      if (created.status !== 200) throw new Error(`The bot was not created: ${JSON.stringify(created.body)}`)
      const { pathname: chatPath } = new URL(created.body.bot.integrations.chat.webhookUrl)
      const talks: Talk[] = []
      while (talks.length < count)
        talks.push(...(await openTalksOfUser(`${apiUrls[0]}${chatPath}`, count - talks.length)))
      return { botId: created.body.bot.id, chatPath, talks }
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

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + readyMilliseconds
  while (Date.now() < deadline) {
    const response = await fetch(`${url}/readyz`).catch(() => undefined)
    if (response?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`Nothing is ready at ${url}`)
}

async function openTalksOfUser(chatUrl: string, most: number): Promise<Talk[]> {
  const { key } = (await send('POST', `${chatUrl}/users`, {})).body
  const talks: Talk[] = []
  while (talks.length < Math.min(most, conversationsOfUser)) {
    const { body } = await send('POST', `${chatUrl}/conversations`, {}, { 'x-user-key': key })
    talks.push({ conversationId: body.conversation.id, key, acknowledged: [] })
  }
  return talks
}
