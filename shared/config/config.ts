import type { PlatformSecret } from '../secrets.ts'
import { addressContradictions } from './addresses.ts'
import { availableParallelism } from 'node:os'
import { limitContradictions, limitRemedies, limitVariables, readLimits, type LimitSettings } from './limit-settings.ts'
import { parseAllowedNetwork, type AllowedNetwork } from './private-network-allowlist.ts'
import { sandboxMegabytes } from './sandbox-memory.ts'
import { closedObject, compile, describeProblem, type Infer } from '../schema.ts'
import { readTelemetry, telemetryRemedies, telemetryVariables, type TelemetrySettings } from './telemetry-settings.ts'
import {
  embeddingsContradictions,
  embeddingsRemedies,
  embeddingsVariables,
  readEmbeddings,
  type EmbeddingsSettings,
} from './embeddings-settings.ts'
import {
  readS3,
  s3Contradictions,
  s3Remedies,
  s3Variables,
  storeOfNewContents,
  type S3Settings,
  type StoreName,
} from './s3-settings.ts'
import {
  modelsContradictions,
  modelsRemedies,
  modelsVariables,
  readModels,
  type ModelsSettings,
} from './models-settings.ts'
import {
  readSignIn,
  signInContradictions,
  signInRemedies,
  signInVariables,
  type SignInSettings,
} from './sign-in-settings.ts'
import { connectableHost, grantedHost } from './granted-host.ts'
import { megabyte } from '../units.ts'

/** All isolation layers of the sandbox processes; a machine may support fewer. */
export const isolationLayers = ['permissions', 'memory', 'network', 'files', 'processes', 'privileges', 'user'] as const

export type IsolationLayer = (typeof isolationLayers)[number]

/** The settings of an Isobot process, read from the environment once, complete and frozen. */
export interface Config extends TelemetrySettings {
  database: {
    url: string
    /** Connections of this process for statements; see `shared/config/connection-budget.ts` for the others. */
    poolSize: number
    /** Connections of a worker for taking jobs out of a queue in PostgreSQL. */
    queueSize: number
    /** Accept a self-signed certificate chain, as on Heroku. */
    allowSelfSigned: boolean
  }
  /** Absent: queue and signals live in PostgreSQL. */
  redis?: { url: string; allowSelfSigned: boolean; prefix: string }
  http: {
    port: number
    /** The interface to listen on; absent: all interfaces. */
    host?: string
    /** The public address of the api, without a trailing slash. */
    baseUrl: string
  }
  /** Upper bounds of concurrent work in the api; beyond them it answers 503. */
  overload: {
    requests: number
    /** Bytes of request bodies that have arrived and are not answered yet. */
    bodyBytes: number
    /** Upper bound of the median delay of the event loop within a second. */
    delayMilliseconds: number
  }
  /** Upper bounds of chat requests per minute; 0: none. */
  chatRateLimits: {
    /** Per user key and installation. */
    user: number
    /** Per installation, for all its users and visitors together. */
    installation: number
    /** Per installation of the web chat and address, for requests without a valid key. */
    visitor: number
  }
  /** Upper bound of requests per minute of one token of the other interfaces; 0: none. */
  tokenRateLimit: number
  /** Upper bound of one bot's waiting events. */
  waitingEvents: number
  /** Quotas of the files of each bot. */
  files: {
    /** Upper bound of one content, in bytes. */
    maxFileBytes: number
    maxFiles: number
    /** The store of new contents; each content says itself where it is. */
    store: StoreName
    /** Upper bound of all contents of one bot, in bytes. */
    maxBytes: number
    /** Quotas of what visitors of a web chat upload: of one content, of one visitor, and of all visitors together. */
    visitors: { maxFileBytes: number; maxFiles: number; maxBytes: number }
  }
  /** Quotas of each bot's tables; a row counts as many rows as the factor of its table. */
  tables: { perBot: number; rowsPerBot: number }
  /** The bucket for contents of files, if there is one. */
  s3?: S3Settings
  /** The endpoint that makes vectors of passages; absent: searches compare words only. */
  embeddings?: EmbeddingsSettings
  /** The providers of language models. */
  models: ModelsSettings
  /** Quotas of what searches find. */
  knowledge: {
    maxFilePassages: number
    /** Upper bound of the passages of one bot. */
    maxPassages: number
    /** Upper bound of the texts of one bot's passages, in bytes. */
    maxTextBytes: number
  }
  /** Encrypts secrets at rest, and derives the keys that only this platform holds. */
  secret: PlatformSecret
  /** The token of the first administrator, which the release step stores. */
  adminToken?: string
  /** The OpenID provider of the console's sign-in; absent: people sign in with tokens only. */
  signIn?: SignInSettings
  logLevel: string
  worker: {
    /** Mailboxes handled concurrently. A bot mostly waits, so the number is far above the number of cores. */
    concurrency: number
    /** The duration of a job's lock without renewal, and the interval of the check for expired locks. */
    lockMilliseconds: number
    stalledMilliseconds: number
    /** Interval of the search for waiting events that have no job. */
    sweepMilliseconds: number
  }
  sandbox: LimitSettings & {
    processes: number
    /** Upper bound of their memory together, in megabytes. */
    totalMegabytes: number
    /** Limits of each process that compiles an upload; the seconds are processor time. */
    compile: { seconds: number; memoryMegabytes: number }
    /** Limits of each process that reads a document; the seconds are processor time. */
    extract: { seconds: number; memoryMegabytes: number }
    /** `jit` is for operators who trust the authors of their bots: it is faster, and has a larger attack surface. */
    profile: 'hardened' | 'jit'
    /** Isolation layers without which a worker does not start. */
    require: IsolationLayer[]
    /** Hosts that code without a list of its own may request; see `permissions.net`. */
    net: string[]
  }
  outbound: {
    /** Non-public addresses that outbound requests of bots may reach. */
    allowPrivate: AllowedNetwork[]
    /** Hosts with ports that code may open connections to, where its permissions name them as well. */
    connect: string[]
    /** Hosts whose requests are answered without being sent, where code may not request them. */
    discard: string[]
  }
  /** How long rows are kept that are no longer needed. */
  retention: {
    logMilliseconds: number
    /** The time in which failed events can be replayed. */
    failedMilliseconds: number
    auditMilliseconds: number
    /** Of the usage of language models. */
    usageMilliseconds: number
    /** Versions kept per bot, beside the deployed one. */
    versions: number
    /** For bots that do not set their own; 0 for never. */
    data: { messageDays: number; conversationDays: number; eventDays: number; userDays: number }
  }
  /** Upper bound of the time from the stop signal to the exit; platforms kill the process some time later. */
  shutdownMilliseconds: number
  /** Stop gracefully when standard input ends, which the parent process holds open. */
  hasParent: boolean
}

const seconds = { type: 'integer', minimum: 1, maximum: 86_400 } as const
/** Where integrations of the public catalogue report their usage to their publisher, and wait until that has ended. */
const analyticsHosts = 'us.i.posthog.com,eu.i.posthog.com'
const dayMilliseconds = 24 * 3600 * 1000
const days = { type: 'integer', minimum: 1, maximum: 3650 } as const
const megabytes = { type: 'integer', minimum: 1, maximum: 1_000_000_000 } as const
const requests = { type: 'integer', minimum: 0, maximum: 1_000_000_000 } as const

/**
 * Every variable that is read, with its rule and default. Unknown variables belong to other programs and are ignored.
 */
const environmentSchema = closedObject(
  { DATABASE_URL: { type: 'string', pattern: '^postgres(ql)?://' }, ISOBOT_SECRET: { type: 'string', minLength: 32 } },
  {
    ISOBOT_SECRET_ACCEPTED: { type: 'string', minLength: 32 },
    DATABASE_POOL: { type: 'integer', minimum: 1, maximum: 200 },
    QUEUE_POOL: { type: 'integer', minimum: 1, maximum: 200, default: 1 },
    REDIS_URL: { type: 'string', pattern: '^rediss?://' },
    REDIS_PREFIX: { type: 'string', pattern: '^[\\w:-]{1,64}$', default: 'isobot' },
    TLS_ALLOW_SELF_SIGNED: { type: 'boolean', default: false },
    PORT: { type: 'integer', minimum: 0, maximum: 65_535, default: 3000 },
    HOST: { type: 'string', minLength: 1 },
    ISOBOT_BASE_URL: { type: 'string', pattern: '^https?://' },
    API_REQUESTS: { type: 'integer', minimum: 1, maximum: 100_000, default: 1000 },
    API_BODY_MB: { type: 'integer', minimum: 1, maximum: 65_536, default: 16 },
    API_DELAY_MS: { type: 'integer', minimum: 50, maximum: 60_000, default: 1000 },
    API_RATE_LIMIT_TOKEN: { ...requests, default: 0 },
    CHAT_RATE_LIMIT_USER: { ...requests, default: 1200 },
    CHAT_RATE_LIMIT_INSTALLATION: { ...requests, default: 120_000 },
    WEBCHAT_RATE_LIMIT_VISITOR: { ...requests, default: 60 },
    BOT_TABLES: { type: 'integer', minimum: 0, maximum: 100_000, default: 100 },
    BOT_TABLE_ROWS: { type: 'integer', minimum: 0, maximum: 1_000_000_000, default: 100_000 },
    BOT_WAITING_EVENTS: { type: 'integer', minimum: 1, maximum: 1_000_000_000, default: 10_000 },
    FILE_MB: { ...megabytes, default: 100 },
    BOT_FILES: { type: 'integer', minimum: 0, maximum: 100_000_000, default: 10_000 },
    BOT_FILES_MB: { ...megabytes, default: 1024 },
    WEBCHAT_FILE_MB: { ...megabytes, default: 10 },
    WEBCHAT_VISITOR_FILES: { type: 'integer', minimum: 0, maximum: 10_000, default: 50 },
    WEBCHAT_FILES_MB: { ...megabytes, default: 256 },
    FILE_PASSAGES: { type: 'integer', minimum: 1, maximum: 100_000, default: 5000 },
    BOT_PASSAGES: { type: 'integer', minimum: 0, maximum: 10_000_000, default: 50_000 },
    BOT_INDEXED_MB: { ...megabytes, default: 100 },
    ISOBOT_ADMIN_TOKEN: { type: 'string', minLength: 20, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' },
    ISOBOT_PARENT: { const: 'stdin' },
    SHUTDOWN_SECONDS: { type: 'integer', minimum: 2, maximum: 3600, default: 25 },
    LOG_LEVEL: {
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      default: 'info',
    },
    ...s3Variables,
    ...embeddingsVariables,
    ...modelsVariables,
    ...signInVariables,
    ...telemetryVariables,
    WORKER_CONCURRENCY: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    WORKER_LOCK_SECONDS: { ...seconds, default: 5 },
    WORKER_STALLED_SECONDS: { ...seconds, default: 2 },
    WORKER_SWEEP_SECONDS: { ...seconds, default: 10 },
    OUTBOUND_ALLOW_PRIVATE: { type: 'string', default: '' },
    OUTBOUND_CONNECT: { type: 'string', pattern: `^(\\s*${connectableHost}\\s*(,|$))*$`, default: '' },
    OUTBOUND_DISCARD: { type: 'string', pattern: `^(\\s*${grantedHost}\\s*(,|$))*$`, default: analyticsHosts },
    RETENTION_LOG_DAYS: { ...days, default: 30 },
    RETENTION_FAILED_DAYS: { ...days, default: 30 },
    RETENTION_AUDIT_DAYS: { ...days, default: 365 },
    RETENTION_USAGE_DAYS: { ...days, default: 400 },
    RETENTION_MESSAGE_DAYS: { ...days, minimum: 0, default: 0 },
    RETENTION_CONVERSATION_DAYS: { ...days, minimum: 0, default: 0 },
    RETENTION_EVENT_DAYS: { ...days, minimum: 0, default: 0 },
    RETENTION_USER_DAYS: { ...days, minimum: 0, default: 0 },
    RETENTION_VERSIONS: { type: 'integer', minimum: 1, maximum: 10_000, default: 50 },
    SANDBOX_PROCESSES: { type: 'integer', minimum: 1, maximum: 64 },
    COMPILE_SECONDS: { type: 'integer', minimum: 1, maximum: 600, default: 10 },
    EXTRACT_SECONDS: { type: 'integer', minimum: 1, maximum: 600, default: 30 },
    EXTRACT_MEMORY: { type: 'integer', minimum: 128, maximum: 8192, default: 640 },
    COMPILE_MEMORY: { type: 'integer', minimum: 256, maximum: 8192, default: 640 },
    SANDBOX_MEMORY: { type: 'integer', minimum: 128, maximum: 1_048_576 },
    SANDBOX_PROFILE: { type: 'string', enum: ['hardened', 'jit'], default: 'hardened' },
    SANDBOX_REQUIRE: { type: 'string', default: '', pattern: `^(\\s*(${isolationLayers.join('|')})?\\s*(,|$))*$` },
    SANDBOX_NET: { type: 'string', pattern: `^(\\s*${grantedHost}\\s*(,|$))*$`, default: '' },
  },
)

type Environment = Infer<typeof environmentSchema>

const properties = { ...environmentSchema.properties, ...limitVariables }
const isEnvironment = compile<typeof environmentSchema>({ ...environmentSchema, properties }, 'environment')

/** The names of all variables that are read. */
export const variableNames: readonly string[] = Object.keys(properties)

/** The defaults of those that have one, which docs/settings.md states. */
export const variableDefaults: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(properties).flatMap(([name, rule]) => ('default' in rule ? [[name, rule.default]] : [])),
)

/** The remedy for each missing or invalid variable; the rule itself is in the schema. */
const remedies: Record<string, string | undefined> = {
  ...limitRemedies,
  ...telemetryRemedies,
  ...s3Remedies,
  ...embeddingsRemedies,
  ...modelsRemedies,
  ...signInRemedies,
  DATABASE_URL: 'set it to the address of a PostgreSQL database, postgres://user:password@host:5432/name',
  DATABASE_POOL: 'set it to the connections to PostgreSQL that one process may hold for its statements, 1 to 200',
  QUEUE_POOL: 'set it to the connections to PostgreSQL that one worker may hold for its queue, 1 to 200',
  BOT_TABLES: 'set it to the number of tables that one bot may have, for instance 100',
  BOT_TABLE_ROWS: 'set it to the number of rows that the tables of one bot may have together, for instance 100000',
  API_REQUESTS: 'set it to the maximum of concurrent requests of one api process, for instance 1000',
  API_BODY_MB: 'set it to the megabytes of request bodies that one api process may buffer, for instance 16',
  API_RATE_LIMIT_TOKEN:
    'set it to the requests per minute that one token may send, for instance 6000, or to 0 for no limit',
  API_DELAY_MS: 'set it to the event loop delay in milliseconds above which an api process refuses requests, from 50',
  FILE_MB: 'set it to the megabytes that one file may have, for instance 100',
  BOT_FILES: 'set it to the number of files that one bot may have, for instance 10000',
  BOT_FILES_MB: 'set it to the megabytes that all files of one bot may have together, for instance 1024',
  WEBCHAT_FILE_MB: 'set it to the megabytes that one file of a visitor of a web chat may have, for instance 10',
  WEBCHAT_VISITOR_FILES: 'set it to the number of files that one visitor of a web chat may have, for instance 50',
  WEBCHAT_FILES_MB: 'set it to the megabytes that all visitors of a web chat may upload together, for instance 256',
  FILE_PASSAGES: 'set it to the number of passages that one indexed file may have, for instance 5000',
  BOT_PASSAGES: 'set it to the number of passages that all indexed files of one bot may have, for instance 50000',
  BOT_INDEXED_MB: 'set it to the megabytes of text that all indexed files of one bot may have, for instance 100',
  REDIS_PREFIX: 'set it to at most 64 letters, digits, underscores, hyphens and colons',
  REDIS_URL: 'set it to redis://host:6379 (rediss:// for TLS), or unset it to keep the queue in PostgreSQL',
  ISOBOT_SECRET: 'set it to at least 32 random characters, for instance from: openssl rand -hex 32',
  ISOBOT_SECRET_ACCEPTED:
    'set it to the other secret, of at least 32 characters, while ISOBOT_SECRET is replaced, or unset it',
  ISOBOT_ADMIN_TOKEN:
    'set it to 20 to 200 printable characters without spaces, for instance from: openssl rand -hex 32',
  SHUTDOWN_SECONDS:
    'set it to a few seconds less than your platform’s grace period between SIGTERM and SIGKILL, from 2',
  COMPILE_SECONDS: 'set it to the seconds of processor time that compiling one upload may take, 1 to 600',
  EXTRACT_SECONDS: 'set it to the seconds of processor time that reading one document may take, 1 to 600',
  EXTRACT_MEMORY: 'set it to the memory limit in megabytes of a process that reads a document, 128 to 8192',
  COMPILE_MEMORY: 'set it to the memory limit in megabytes of a process that compiles an upload, 256 to 8192',
  SANDBOX_MEMORY: 'set it to the megabytes that all sandbox processes of a worker may hold together, 128 or more',
  SANDBOX_PROFILE: 'set it to hardened, or to jit where all authors of bots are trusted',
  SANDBOX_REQUIRE: `set it to a comma-separated list of isolation layers: ${isolationLayers.join(', ')}`,
  OUTBOUND_CONNECT: 'set it to a comma-separated list of hosts with ports, mail.example.com:993,*:465',
  OUTBOUND_DISCARD: 'set it to a comma-separated list of hosts, or to none',
  SANDBOX_NET: 'set it to a comma-separated list of hosts, api.example.com,*.example.org, or to * for all public hosts',
  ISOBOT_BASE_URL: 'set it to the address by which users reach the api, for instance https://bots.example.com',
}

/** The environment is not a valid configuration. The message lists every problem with its remedy. */
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
  const unreadable = entriesOf(environment['OUTBOUND_ALLOW_PRIVATE'] ?? '').filter(
    (entry) => !parseAllowedNetwork(entry),
  )
  if (!isEnvironment(given) || unreadable.length > 0) throw new ConfigError(listProblems(unreadable))
  const config = toConfig(given)
  const contradictions = [
    ...addressContradictions(given),
    ...limitContradictions(config.sandbox),
    ...s3Contradictions(given),
    ...embeddingsContradictions(given),
    ...modelsContradictions(given),
    ...signInContradictions(given),
  ]
  if (contradictions.length > 0)
    throw new ConfigError(['Invalid configuration of the environment:', ...contradictions].join('\n  '))
  return Object.freeze(config)
}

/** Sized so that an api and a worker fit a plan of 20 connections, also while they are replaced (decision 0018). */
const poolSizes = { withRedis: 4, withoutRedis: 3 }

function toConfig(given: Environment): Config {
  const allowSelfSigned = given.TLS_ALLOW_SELF_SIGNED
  const processes = given.SANDBOX_PROCESSES ?? Math.max(1, availableParallelism() - 1)
  return {
    database: {
      url: given.DATABASE_URL,
      poolSize: given.DATABASE_POOL ?? (given.REDIS_URL ? poolSizes.withRedis : poolSizes.withoutRedis),
      queueSize: given.QUEUE_POOL,
      allowSelfSigned,
    },
    ...(given.REDIS_URL && { redis: { url: given.REDIS_URL, allowSelfSigned, prefix: given.REDIS_PREFIX } }),
    http: {
      port: given.PORT,
      ...(given.HOST && { host: given.HOST }),
      baseUrl: (given.ISOBOT_BASE_URL ?? `http://localhost:${given.PORT}`).replace(/\/+$/, ''),
    },
    overload: {
      requests: given.API_REQUESTS,
      bodyBytes: given.API_BODY_MB * megabyte,
      delayMilliseconds: given.API_DELAY_MS,
    },
    chatRateLimits: {
      user: given.CHAT_RATE_LIMIT_USER,
      installation: given.CHAT_RATE_LIMIT_INSTALLATION,
      visitor: given.WEBCHAT_RATE_LIMIT_VISITOR,
    },
    tokenRateLimit: given.API_RATE_LIMIT_TOKEN,
    waitingEvents: given.BOT_WAITING_EVENTS,
    files: {
      maxFileBytes: given.FILE_MB * megabyte,
      maxFiles: given.BOT_FILES,
      store: storeOfNewContents(given),
      maxBytes: given.BOT_FILES_MB * megabyte,
      visitors: {
        maxFileBytes: given.WEBCHAT_FILE_MB * megabyte,
        maxFiles: given.WEBCHAT_VISITOR_FILES,
        maxBytes: given.WEBCHAT_FILES_MB * megabyte,
      },
    },
    tables: { perBot: given.BOT_TABLES, rowsPerBot: given.BOT_TABLE_ROWS },
    ...readS3(given),
    ...readEmbeddings(given),
    ...readModels(given),
    knowledge: {
      maxFilePassages: given.FILE_PASSAGES,
      maxPassages: given.BOT_PASSAGES,
      maxTextBytes: given.BOT_INDEXED_MB * megabyte,
    },
    secret: {
      current: given.ISOBOT_SECRET,
      ...(given.ISOBOT_SECRET_ACCEPTED && { accepted: given.ISOBOT_SECRET_ACCEPTED }),
    },
    ...(given.ISOBOT_ADMIN_TOKEN && { adminToken: given.ISOBOT_ADMIN_TOKEN }),
    ...readSignIn(given),
    logLevel: given.LOG_LEVEL,
    ...readTelemetry(given),
    worker: {
      concurrency: given.WORKER_CONCURRENCY,
      lockMilliseconds: given.WORKER_LOCK_SECONDS * 1000,
      stalledMilliseconds: given.WORKER_STALLED_SECONDS * 1000,
      sweepMilliseconds: given.WORKER_SWEEP_SECONDS * 1000,
    },
    sandbox: {
      processes,
      compile: { seconds: given.COMPILE_SECONDS, memoryMegabytes: given.COMPILE_MEMORY },
      extract: { seconds: given.EXTRACT_SECONDS, memoryMegabytes: given.EXTRACT_MEMORY },
      totalMegabytes: given.SANDBOX_MEMORY ?? sandboxMegabytes(processes),
      ...readLimits(given),
      profile: given.SANDBOX_PROFILE,
      require: entriesOf(given.SANDBOX_REQUIRE) as IsolationLayer[],
      net: entriesOf(given.SANDBOX_NET),
    },
    outbound: {
      allowPrivate: entriesOf(given.OUTBOUND_ALLOW_PRIVATE).flatMap((entry) => parseAllowedNetwork(entry) ?? []),
      connect: entriesOf(given.OUTBOUND_CONNECT),
      discard: entriesOf(given.OUTBOUND_DISCARD).filter((entry) => entry !== 'none'),
    },
    retention: {
      logMilliseconds: given.RETENTION_LOG_DAYS * dayMilliseconds,
      failedMilliseconds: given.RETENTION_FAILED_DAYS * dayMilliseconds,
      auditMilliseconds: given.RETENTION_AUDIT_DAYS * dayMilliseconds,
      usageMilliseconds: given.RETENTION_USAGE_DAYS * dayMilliseconds,
      versions: given.RETENTION_VERSIONS,
      data: {
        messageDays: given.RETENTION_MESSAGE_DAYS,
        conversationDays: given.RETENTION_CONVERSATION_DAYS,
        eventDays: given.RETENTION_EVENT_DAYS,
        userDays: given.RETENTION_USER_DAYS,
      },
    },
    shutdownMilliseconds: given.SHUTDOWN_SECONDS * 1000,
    hasParent: given.ISOBOT_PARENT === 'stdin',
  }
}

/** The entries of a comma-separated list. */
function entriesOf(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

function listProblems(unreadableOpenings: string[]): string {
  const problems = (isEnvironment.errors ?? []).map((error) => {
    const name = error.instancePath.slice(1) || String(error.params['missingProperty'])
    const rule = error.keyword === 'required' ? 'is not set' : describeProblem(error)
    const remedy = remedies[name]
    return `  ${name} ${rule}${remedy ? `: ${remedy}` : ''}`
  })
  for (const entry of unreadableOpenings) {
    problems.push(
      `  OUTBOUND_ALLOW_PRIVATE has an invalid entry, ${JSON.stringify(entry)}: write a host, an IP address ` +
        'or a network, each with or without a port, for instance backend.internal:8080,10.0.0.0/8,[fd00::1]:8080',
    )
  }
  return ['Invalid configuration of the environment:', ...new Set(problems)].join('\n')
}
