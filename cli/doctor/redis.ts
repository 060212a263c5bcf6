import { createHash } from 'node:crypto'
import { Redis } from 'ioredis'
import type { Config } from '#shared/config/config.ts'
import { codeOf, selfSigned, wordsOf } from '#shared/connectivity/connect-errors.ts'
import { findingsOf, type Finding } from './finding.ts'

const { ok, warn, fail } = findingsOf('Redis')

const minVersion = [6, 2]
const patienceMilliseconds = 5000

/** Checks Redis: reachability, database, permissions, version, eviction policy, persistence and number of clients. */
export async function checkRedis({ redis: settings, worker }: Config): Promise<Finding[]> {
  if (!settings) return [ok('REDIS_URL is not set: the queue and the signals use PostgreSQL')]
  const { url, allowSelfSigned, prefix } = settings
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: patienceMilliseconds,
    commandTimeout: patienceMilliseconds,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    ...(allowSelfSigned && url.startsWith('rediss:') && { tls: { rejectUnauthorized: false } }),
  })
  let problem: unknown
  redis.on('error', (error) => (problem ??= error))
  try {
    await redis.connect()
    const missing = await checkIndex(redis)
    if (missing) return [missing]
    const info = readInfo(await redis.info())
    return [
      checkVersion(info),
      ...(await checkUse(redis, prefix)),
      checkEviction(info),
      checkPersistence(info, worker.sweepMilliseconds / 1000),
      ...checkClients(info),
    ]
  } catch (error) {
    return [unreachable(problem ?? error, url)]
  } finally {
    redis.disconnect()
  }
}

function unreachable(error: unknown, url: string): Finding {
  const { hostname, port, protocol } = new URL(url)
  const where = `Redis at ${hostname}:${port || 6379}`
  if (selfSigned.has(codeOf(error))) {
    return fail(`${where} has a self-signed certificate`, 'set TLS_ALLOW_SELF_SIGNED=true if you trust it')
  }
  const words = wordsOf(error)
  const otherwise = `start it, or correct REDIS_URL${protocol === 'redis:' ? ' (rediss:// if it requires TLS)' : ''}`
  const remedy = connectRemedies.find(({ refusal }) => refusal.test(words))?.remedy ?? otherwise
  return fail(`${where} cannot be used: ${words}`, remedy)
}

const connectRemedies = [
  {
    refusal: /WRONGPASS|NOAUTH|NOPERM/,
    remedy: 'set the right user and password in REDIS_URL, with the right to all commands',
  },
  { refusal: /max number of clients/, remedy: 'raise maxclients, or close other connections' },
  // The refusal of a client too many may be lost with its connection.
  {
    refusal: /EPIPE|ECONNRESET|Connection is closed/,
    remedy: 'raise maxclients if it has as many clients, or correct REDIS_URL (rediss:// if it requires TLS)',
  },
]

/** A connection whose database does not exist uses the first one, and only reports an error. */
async function checkIndex(redis: Redis): Promise<Finding | undefined> {
  const { db = 0 } = redis.options
  if (db === 0) return undefined
  try {
    await redis.select(db)
    return undefined
  } catch (error) {
    const remedy = 'set REDIS_URL to one that it has (redis://…/0), or raise databases in its configuration'
    return fail(`Redis has no database ${db}: ${wordsOf(error)}`, remedy)
  }
}

type Info = Record<string, string | undefined>

/** Parses the answer of INFO, whose lines are `name:value`. */
function readInfo(text: string): Info {
  const lines = text.split('\r\n').map((line) => /^(\w+):(.*)$/.exec(line))
  return Object.fromEntries(lines.flatMap((match) => (match ? [[match[1]!, match[2]!]] : [])))
}

function checkVersion({ redis_version: version = '', cluster_enabled: cluster }: Info): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (cluster === '1') return fail('Redis runs as a cluster', singleServer)
  const isNew = major > minVersion[0]! || (major === minVersion[0] && minor >= minVersion[1]!)
  return isNew ? ok(`Redis ${version} answers`) : fail(`Redis ${version} is too old`, 'upgrade it to 6.2 or newer')
}

async function checkUse(redis: Redis, prefix: string): Promise<Finding[]> {
  const refused = await checkWrites(redis, prefix)
  return refused.length > 0 ? refused : checkPermissions(redis, prefix)
}

/** Commands of the queue's scripts, of each kind of value. */
const queueCommands = `
  redis.call('del', KEYS[1])
  redis.call('hset', KEYS[1], 'field', '1') redis.call('del', KEYS[1])
  redis.call('lpush', KEYS[1], '1') redis.call('del', KEYS[1])
  redis.call('xadd', KEYS[1], '*', 'field', '1') redis.call('del', KEYS[1])
  redis.call('zadd', KEYS[1], 1, '1')`

/** Uses Redis as the queue and the signals do: users may lack single commands, keys or channels. */
async function checkPermissions(redis: Redis, prefix: string): Promise<Finding[]> {
  const [key, channel] = [`${prefix}:doctor:queue`, `${prefix}:signal:doctor`]
  try {
    await redis.eval(queueCommands, 1, key)
    await redis.evalsha(sha1(queueCommands), 1, key)
    await redis.bzpopmin(key, 1)
    await redis.publish(channel, '')
    await redis.subscribe(channel)
    await redis.unsubscribe(channel)
    return []
  } catch (error) {
    return [unpermitted(redis, prefix, error)]
  }
}

function unpermitted(redis: Redis, prefix: string, error: unknown): Finding {
  const user = redis.options.username ?? 'default'
  const remedy = `give it all commands, and the keys and channels of the prefix: ACL SETUSER ${user} allcommands ~${prefix}* &${prefix}*`
  return fail(`The user ${user} may not use Redis as the queue and the signals do: ${wordsOf(error)}`, remedy)
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

/** A Redis that is full, a read-only replica, a cluster without all its slots or a server that cannot save answers, and takes no job. */
async function checkWrites(redis: Redis, prefix: string): Promise<Finding[]> {
  try {
    await redis.set(`${prefix}:doctor`, '', 'PX', patienceMilliseconds)
    return []
  } catch (error) {
    const words = wordsOf(error)
    if (words.startsWith('NOPERM')) return [unpermitted(redis, prefix, error)]
    const remedy =
      writeRemedies.find(({ refusal }) => refusal.test(words))?.remedy ?? 'remove the cause that Redis names'
    return [fail(`Redis refuses writes: ${words}`, remedy)]
  }
}

const singleServer = 'use a single server: the queue cannot be distributed over a cluster'

const writeRemedies = [
  { refusal: /^(CLUSTERDOWN|MOVED)/, remedy: singleServer },
  { refusal: /^OOM/, remedy: 'raise maxmemory, or remove the keys of other programs' },
  { refusal: /^READONLY/, remedy: 'set REDIS_URL to the primary, or promote this replica: replicaof no one' },
  { refusal: /^MISCONF/, remedy: 'give the server space on its disk, or disable saving: config set save ""' },
]

function checkEviction({
  maxmemory_policy: policy = 'unknown',
  maxmemory = '0',
  used_memory_human: used,
}: Info): Finding {
  const message = `Redis uses ${used ?? 'some memory'}, its maxmemory-policy is ${policy}`
  if (policy === 'noeviction') return ok(message)
  const remedy = 'set maxmemory-policy to noeviction: redis-cli config set maxmemory-policy noeviction'
  if (maxmemory === '0') return warn(`${message}, which takes effect as soon as maxmemory is set`, remedy)
  return fail(`${message}: a full Redis deletes jobs, and the queue breaks`, remedy)
}

function checkPersistence({ aof_enabled: log, rdb_changes_since_last_save: changes }: Info, seconds: number): Finding {
  const how =
    log === '1'
      ? 'Redis writes an append-only file'
      : `Redis writes no append-only file (${changes ?? 0} changes unsaved)`
  return ok(`${how}; none is needed: the sweep restores lost jobs from PostgreSQL within ${seconds} s`)
}

function checkClients({ connected_clients: connected = '0', maxclients }: Info): Finding[] {
  if (maxclients === undefined || Number(connected) < Number(maxclients) * 0.8) return []
  return [warn(`Redis has ${connected} of ${maxclients} clients`, 'raise maxclients, or close other connections')]
}
