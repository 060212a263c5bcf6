import { readConfig, type Config } from '#shared/config/config.ts'
import { exposeMetrics } from '#shared/monitoring/metrics.ts'
import { openContext, type Context } from '#shared/context.ts'
import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { startServer } from '../../api/server.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import type { Resolve } from '../../worker/outbound/resolver.ts'
import { startWorker } from '../../worker/worker.ts'
import { createDatabase } from './databases.ts'
import { createRedisSpace } from './redis.ts'

/** The back ends for jobs and signals. Tests of code that depends on them run on both. */
export const backEnds = ['redis', 'postgres'] as const
export type BackEnd = (typeof backEnds)[number]

export interface PlatformOptions {
  backEnd?: BackEnd
  /** Whether a worker runs in this process too. */
  worker?: boolean
  /** Resolves the host names in bot code's requests, in place of the name servers. */
  resolve?: Resolve
  /** Environment variables, in addition to those of the fixture. */
  environment?: NodeJS.ProcessEnv
}

/** The answer of an HTTP interface. */
export interface Answer {
  status: number
  headers: Headers
  // Tests assert single fields; the schemas define the types.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

export interface DeployedBot {
  id: string
  webhookId: string
  /** The `apiUrl` of chat clients. */
  chatUrl: string
}

/** A whole platform for one test file: database, queue, api and worker. */
export interface Platform extends AsyncDisposable {
  url: string
  token: string
  workspaceId: string
  context: Context
  /** The environment for further processes of this platform. */
  environment: NodeJS.ProcessEnv
  /** Sends a request as the administrator. `headers` replace the default ones or, when undefined, remove them. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<Answer>
  /** Creates a bot of this code. `fields` are further ones of the request. */
  createBot(code?: string, fields?: object): Promise<DeployedBot>
}

export const adminToken = 'the-administrator-of-the-tests'

/** Opens a platform with a database and queue of its own. Disposing closes all of them. */
export async function openPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const parts = new AsyncDisposableStack()
  try {
    const database = parts.adopt(await createDatabase(), (open) => open.drop())
    const redis = options.backEnd === 'postgres' ? undefined : parts.adopt(createRedisSpace(), (space) => space.clear())
    const environment: NodeJS.ProcessEnv = {
      DATABASE_URL: database.url,
      ...(redis && { REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix }),
      ISOBOT_SECRET: 'a secret of at least thirty-two characters',
      PORT: String(await freePort()),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'silent',
      SANDBOX_PROCESSES: '1',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      // The machine may be busy with other tests; tests of overload set their own limit.
      API_DELAY_MS: '20000',
      ...options.environment,
    }
    const config = readConfig(environment)
    const context = parts.use(openContext(config, createLogger('test', config.logLevel)))
    exposeMetrics(context)
    const workspaceId = await ensureAdministrator(context.db, adminToken)
    parts.use(await startServer(context))
    if (options.worker !== false) parts.use(await startWorker(context, options.resolve && { resolve: options.resolve }))
    return toPlatform(config, context, environment, workspaceId, parts)
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

function toPlatform(
  config: Config,
  context: Context,
  environment: NodeJS.ProcessEnv,
  workspaceId: string,
  parts: AsyncDisposableStack,
): Platform {
  const url = config.http.baseUrl
  const ask: Platform['ask'] = (method, path, body, headers) =>
    send(method, `${url}${path}`, body, {
      authorization: `Bearer ${adminToken}`,
      'x-workspace-id': workspaceId,
      ...headers,
    })
  return {
    url,
    token: adminToken,
    workspaceId,
    context,
    environment,
    ask,
    async createBot(code, fields = {}) {
      const { status, body } = await ask('POST', '/v1/admin/bots', { code, ...fields })
      if (status !== 200) throw new Error(`createBot: ${JSON.stringify(body)}`)
      const { webhookId, webhookUrl } = body.bot.integrations.chat
      return { id: body.bot.id, webhookId, chatUrl: webhookUrl }
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** Sends a request with a JSON body; a string body is sent unchanged. */
export async function send(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<Answer> {
  const present = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined)
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(present) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}
