import { randomBytes } from 'node:crypto'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { insertAccount, insertMember, insertPersonalToken, insertWorkspace } from '#shared/store/accounts.ts'
import { openDatabase } from '#shared/store/database.ts'
import type { Role } from '#shared/models/tables.ts'
import { migrate } from '../../migrations/migrations.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { Member } from '../chaos/members.ts'
import { openPostgres, openRedis } from '../chaos/servers.ts'
import { startEndpoint } from '../support/models.ts'

export interface PlatformOptions {
  backEnd: 'redis' | 'postgres'
  /** Settings of PostgreSQL, and environment variables. */
  settings: Record<string, string>
  environment: NodeJS.ProcessEnv
}

/** An api and a worker, with servers of their own. */
export interface FuzzPlatform {
  url: string
  port: number
  databaseUrl: string
  members: Member[]
  /** Makes an account that is a member of one workspace only, by default a new one. */
  addMember(
    role: Role,
    workspaceId?: string,
  ): Promise<Record<'accountId' | 'workspaceId' | 'token' | 'tokenId', string>>
}

const readyMilliseconds = 60_000

export async function openFuzzPlatform(options: PlatformOptions, parts: AsyncDisposableStack): Promise<FuzzPlatform> {
  const postgres = await openPostgres(parts, options.settings)
  await migrate(postgres.urlOn(postgres.port()))
  const redis = options.backEnd === 'redis' ? await openRedis(parts) : undefined
  const databaseUrl = postgres.urlOn(postgres.port())
  const models = parts.use(await startEndpoint())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const environment = {
    DATABASE_URL: databaseUrl,
    ...(redis && { REDIS_URL: `redis://127.0.0.1:${redis.port()}` }),
    ISOBOT_SECRET: randomBytes(32).toString('hex'),
    HOST: '127.0.0.1',
    PORT: String(port),
    LOG_LEVEL: 'fatal',
    // Rate limits have tests of their own: here as many requests as possible have to be answered.
    CHAT_RATE_LIMIT_USER: '0',
    CHAT_RATE_LIMIT_INSTALLATION: '0',
    BOT_WAITING_EVENTS: '1000000',
    API_DELAY_MS: '20000',
    SANDBOX_PROCESSES: '1',
    // A provider that nobody can reach.
    OIDC_ISSUER: 'http://localhost:1',
    OIDC_CLIENT_ID: 'isobot',
    OIDC_CLIENT_SECRET: 'a secret of the client',
    ...models.environment,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...options.environment,
  }
  const members = (['api', 'worker'] as const).map((kind) => new Member({ kind, environment, links: [] }))
  for (const member of members) {
    await member.start()
    parts.defer(async () => void (await member.stop()))
  }
  await untilReady(url)
  const db = parts.adopt(openDatabase({ url: databaseUrl, poolSize: 1, allowSelfSigned: false }), (open) =>
    open.destroy(),
  )

  return {
    url,
    port,
    databaseUrl,
    members,
    async addMember(role, given) {
      const [accountId, tokenId] = [newId('account'), newId('pat')]
      const token = randomBytes(20).toString('hex')
      const workspaceId = given ?? newId('wkspace')
      if (given === undefined) await insertWorkspace(db, { id: workspaceId, name: 'Fuzz' })
      await insertAccount(db, { id: accountId, name: role })
      await insertMember(db, { workspaceId, accountId, role })
      await insertPersonalToken(db, { id: tokenId, hash: hashToken(token), accountId, note: '' })
      return { accountId, workspaceId, token, tokenId }
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
