import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../cli/postgres/free-port.ts'
import { send } from '../support/platform.ts'
import { read } from './check.ts'
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
  /** The folder of the code that the platform begins with; by default this repository. */
  checkout?: string
}

/** A platform of several processes, with servers of its own. */
export interface ChaosPlatform extends FaultTargets {
  apiUrls: string[]
  /** Starts a further process, with the code of this repository. */
  addApi(): Promise<Member>
  addWorker(): Promise<Member>
  /** Ends a process gracefully, after clients have turned to the others. */
  remove(member: Member): Promise<void>
  /** Runs the release step of a checkout. */
  release(checkout?: string): Promise<string>
  /** The names of the migrations that have run. */
  listMigrations(): Promise<string[]>
  /** The database's URL, without a link. */
  databaseUrl(): string
  /** The headers of an administrator's requests. */
  headers: Record<string, string>
  /** Makes a bot of this code. Returns the path of its chat, and conversations with it. */
  openTalks(count: number, code: string): Promise<{ botId: string; chatPath: string; talks: Talk[] }>
}

const repository = join(import.meta.dirname, '..', '..')

/** Conversations per user. */
const conversationsOfUser = 5
const readyMilliseconds = 60_000

/** Starts the servers and the processes; each process has links of its own to the servers. */
export async function openChaosPlatform(options: PlatformOptions, parts: AsyncDisposableStack): Promise<ChaosPlatform> {
  const postgres = await openPostgres(parts, options.settings)
  const redis = options.backEnd === 'redis' ? await openRedis(parts) : undefined
  const databaseUrl = () => postgres.urlOn(postgres.port())
  const token = randomBytes(20).toString('hex')
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

  async function release(checkout = repository): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [join(checkout, 'migrations', 'migrate.js')], {
      cwd: checkout,
      env: { ...environment, DATABASE_URL: databaseUrl(), ISOBOT_ADMIN_TOKEN: token },
    })
    return stdout
  }

  interface Start {
    kind: Member['kind']
    checkout?: string | undefined
    own?: NodeJS.ProcessEnv
    front?: Link[]
  }

  async function addMember({ kind, checkout, own = {}, front = [] }: Start): Promise<Member> {
    const toPostgres = parts.use(await openLink(() => postgres.port()))
    const toRedis = redis && parts.use(await openLink(() => redis.port()))
    const member = new Member({
      kind,
      ...(checkout !== undefined && { checkout }),
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
    members.push(member)
    return member
  }

  async function addApi(checkout?: string): Promise<Member> {
    const port = await freePort()
    const front = parts.use(await openLink(() => port))
    const member = await addMember({ kind: 'api', checkout, own: { PORT: String(port) }, front: [front] })
    const url = `http://127.0.0.1:${front.port}`
    await untilReady(url)
    urls.set(member, url)
    apiUrls.push(url)
    return member
  }

  const addWorker = (checkout?: string) => addMember({ kind: 'worker', checkout })

  const members: Member[] = []
  const apiUrls: string[] = []
  const urls = new Map<Member, string>()
  const released = await release(options.checkout)
  const workspaceId = /workspace is (\S+)/.exec(released)?.[1]
  if (workspaceId === undefined) throw new Error(`The release step names no workspace: ${released}`)
  await Promise.all([
    ...Array.from({ length: options.apis }, () => addApi(options.checkout)),
    ...Array.from({ length: options.workers }, () => addWorker(options.checkout)),
  ])

  const administratorHeaders = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
  return {
    members,
    postgres,
    redis,
    queue: redis ?? openPostgresQueue(postgres),
    apiUrls,
    databaseUrl,
    addApi: () => addApi(),
    addWorker: () => addWorker(),
    async remove(member) {
      const url = urls.get(member)
      if (url !== undefined) apiUrls.splice(apiUrls.indexOf(url), 1)
      const exit = await member.stop()
      // A process that does not handle the signal yet has no work to finish.
      if (exit && exit.code !== 0 && exit.signal !== 'SIGTERM') member.surprises.push(exit)
    },
    release,
    async listMigrations() {
      const rows = await read<{ name: string }>(databaseUrl(), 'select name from knex_migrations order by id')
      return rows.map(({ name }) => name)
    },
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
