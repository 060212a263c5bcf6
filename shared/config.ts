import { availableParallelism } from 'node:os'
import { compile, type Infer } from './schema.ts'

/** The settings of an Isobot process, read from the environment once, complete and frozen. */
export interface Config {
  database: {
    url: string
    /** Connections that this process may hold, the queue's and the listener's own not counted. */
    poolSize: number
    /** Accept a certificate chain that signs itself, as on Heroku. */
    allowSelfSigned: boolean
  }
  /** Absent: queue and signals live in PostgreSQL. */
  redis?: { url: string; allowSelfSigned: boolean; prefix: string }
  http: {
    port: number
    /** The interface to listen on; absent: all. */
    host?: string
    /** The address by which the outside reaches the api, without a slash at the end. */
    baseUrl: string
  }
  /** Encrypts secrets at rest and derives the keys that are shared with nobody else. */
  secret: string
  /** The token of the first administrator, made by the release step. */
  adminToken?: string
  logLevel: string
  worker: {
    /** Mailboxes handled at once. Most of a bot's time is waiting, so this is far above the number of cores. */
    concurrency: number
    /** How long a worker's hold on a job lasts without renewal, and how often lost holds are looked for. */
    lockMilliseconds: number
    stalledMilliseconds: number
    /** How often events are looked for that have waited although nobody was woken for them. */
    sweepMilliseconds: number
  }
  sandbox: {
    processes: number
    memoryMegabytes: number
    cpuMilliseconds: number
    wallMilliseconds: number
  }
  /** Stop gracefully when standard input ends, because a parent holds its other end. */
  hasParent: boolean
}

const seconds = { type: 'integer', minimum: 1, maximum: 86_400 } as const

/** Every variable that is read, with its rule and default. An unknown variable is somebody else's. */
const environmentSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['DATABASE_URL', 'ISOBOT_SECRET'],
  properties: {
    DATABASE_URL: { type: 'string', pattern: '^postgres(ql)?://' },
    DATABASE_POOL: { type: 'integer', minimum: 1, maximum: 200, default: 10 },
    REDIS_URL: { type: 'string', pattern: '^rediss?://' },
    REDIS_PREFIX: { type: 'string', pattern: '^[\\w:-]{1,64}$', default: 'isobot' },
    TLS_ALLOW_SELF_SIGNED: { type: 'boolean', default: false },
    PORT: { type: 'integer', minimum: 0, maximum: 65_535, default: 3000 },
    HOST: { type: 'string', minLength: 1 },
    ISOBOT_BASE_URL: { type: 'string', pattern: '^https?://' },
    ISOBOT_SECRET: { type: 'string', minLength: 32 },
    ISOBOT_ADMIN_TOKEN: { type: 'string', minLength: 20, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' },
    ISOBOT_PARENT: { const: 'stdin' },
    LOG_LEVEL: {
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      default: 'info',
    },
    WORKER_CONCURRENCY: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    WORKER_LOCK_SECONDS: { ...seconds, default: 10 },
    WORKER_STALLED_SECONDS: { ...seconds, default: 5 },
    WORKER_SWEEP_SECONDS: { ...seconds, default: 10 },
    SANDBOX_PROCESSES: { type: 'integer', minimum: 1, maximum: 64 },
    SANDBOX_MEMORY_MB: { type: 'integer', minimum: 8, maximum: 128, default: 64 },
    SANDBOX_CPU_MS: { type: 'integer', minimum: 10, maximum: 60_000, default: 2000 },
    SANDBOX_WALL_MS: { type: 'integer', minimum: 100, maximum: 600_000, default: 60_000 },
  },
} as const

type Environment = Infer<typeof environmentSchema>

const isEnvironment = compile(environmentSchema, 'environment')

/** What to do about a variable that is missing or wrong; the rule itself is in the schema. */
const remedies: Partial<Record<keyof Environment, string>> = {
  DATABASE_URL: 'set it to the address of a PostgreSQL database, postgres://user:password@host:5432/name',
  REDIS_URL: 'set it to redis://host:6379 (rediss:// for TLS), or unset it to keep the queue in PostgreSQL',
  ISOBOT_SECRET: 'set it to at least 32 random characters, for instance from: openssl rand -hex 32',
  ISOBOT_ADMIN_TOKEN:
    'set it to 20 to 200 printable characters without spaces, for instance from: openssl rand -hex 32',
  ISOBOT_BASE_URL: 'set it to the address by which users reach the api, for instance https://bots.example.com',
}

/** The environment cannot be used. Its message lists every problem, each with its remedy. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/**
 * Reads the configuration.
 *
 * @param environment variables by name, normally `process.env`
 * @throws ConfigError naming all problems at once
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  // An empty variable is how shells and platforms spell "not set".
  const given: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(environment)) if (value) given[name] = value
  if (!isEnvironment(given)) throw new ConfigError(listProblems())
  return Object.freeze(toConfig(given))
}

function toConfig(given: Environment): Config {
  const allowSelfSigned = given.TLS_ALLOW_SELF_SIGNED
  return {
    database: { url: given.DATABASE_URL, poolSize: given.DATABASE_POOL, allowSelfSigned },
    ...(given.REDIS_URL && { redis: { url: given.REDIS_URL, allowSelfSigned, prefix: given.REDIS_PREFIX } }),
    http: {
      port: given.PORT,
      ...(given.HOST && { host: given.HOST }),
      baseUrl: (given.ISOBOT_BASE_URL ?? `http://localhost:${given.PORT}`).replace(/\/+$/, ''),
    },
    secret: given.ISOBOT_SECRET,
    ...(given.ISOBOT_ADMIN_TOKEN && { adminToken: given.ISOBOT_ADMIN_TOKEN }),
    logLevel: given.LOG_LEVEL,
    worker: {
      concurrency: given.WORKER_CONCURRENCY,
      lockMilliseconds: given.WORKER_LOCK_SECONDS * 1000,
      stalledMilliseconds: given.WORKER_STALLED_SECONDS * 1000,
      sweepMilliseconds: given.WORKER_SWEEP_SECONDS * 1000,
    },
    sandbox: {
      processes: given.SANDBOX_PROCESSES ?? Math.max(1, availableParallelism() - 1),
      memoryMegabytes: given.SANDBOX_MEMORY_MB,
      cpuMilliseconds: given.SANDBOX_CPU_MS,
      wallMilliseconds: given.SANDBOX_WALL_MS,
    },
    hasParent: given.ISOBOT_PARENT === 'stdin',
  }
}

function listProblems(): string {
  const problems = (isEnvironment.errors ?? []).map((error) => {
    const name = error.instancePath.slice(1) || String(error.params['missingProperty'])
    const rule = error.keyword === 'required' ? 'is not set' : (error.message ?? 'is wrong')
    const remedy = remedies[name as keyof Environment]
    return `  ${name} ${rule}${remedy ? `: ${remedy}` : ''}`
  })
  return ['The environment does not fit:', ...new Set(problems)].join('\n')
}
