import { expect, test } from 'vitest'
import { ConfigError, readConfig, isolationLayers } from '#shared/config/config.ts'
import { connectionBudget } from '#shared/config/connection-budget.ts'
import { isolationLayers as sandboxWallNames } from '#sandbox/isolation/names.ts'

const least = { DATABASE_URL: 'postgres://localhost/isobot', ISOBOT_SECRET: 's'.repeat(32) }

test('a database and a secret are enough', () => {
  expect(readConfig(least)).toMatchObject({
    database: { url: least.DATABASE_URL, poolSize: 3, queueSize: 1, allowSelfSigned: false },
    http: { port: 3000, baseUrl: 'http://localhost:3000' },
    worker: { concurrency: 100 },
    shutdownMilliseconds: 25_000,
    hasParent: false,
  })
  expect(readConfig(least).redis).toBeUndefined()
})

test('a worker that died is noticed within ten seconds', () => {
  const { lockMilliseconds, stalledMilliseconds } = readConfig(least).worker
  // A look marks its jobs, the lock runs out, and another look finds both; nearly two intervals may pass between looks.
  const gap = 2 * stalledMilliseconds
  expect(Math.max(lockMilliseconds, gap) + gap).toBeLessThan(10_000)
})

/** The most connections to PostgreSQL of an api and of a worker. */
function maxConnections(environment: NodeJS.ProcessEnv): { api: number; worker: number } {
  const config = readConfig({ ...least, ...environment })
  return { api: connectionBudget(config, 'api').total, worker: connectionBudget(config, 'worker').total }
}

test('an api and a worker fit a plan of 20 connections, and so does a second one of either while it replaces the first', () => {
  const { api, worker } = maxConnections({})
  expect([api + worker, 2 * api + worker, api + 2 * worker]).toEqual([12, 17, 19])
  const withRedis = maxConnections({ REDIS_URL: 'redis://localhost' })
  expect(2 * withRedis.api + 2 * withRedis.worker).toBe(20)
  expect(maxConnections({ DATABASE_POOL: '10', QUEUE_POOL: '4' })).toEqual({ api: 12, worker: 17 })
})

test('all problems are reported at once, each with what to do', () => {
  const environment = {
    PORT: 'eighty',
    REDIS_URL: 'localhost:6379',
    ISOBOT_SECRET: 'short',
    WORKER_CONCURRENCY: '0',
    LOG_LEVEL: 'loud',
  }
  const error = problemsOf(environment)
  expect(error).toBeInstanceOf(ConfigError)
  for (const name of ['DATABASE_URL', 'PORT', 'REDIS_URL', 'ISOBOT_SECRET', 'WORKER_CONCURRENCY']) {
    expect(String(error)).toContain(`  ${name} `)
  }
  expect(String(error)).toContain('openssl rand -hex 32')
  expect(String(error)).toContain('  LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent')
  expect(String(error)).not.toContain('short')
})

test('addresses that lead nowhere are refused with a remedy, and without their passwords', () => {
  const hosts = 'names several hosts: name one that always leads to'
  const invalid = 'is not a valid address: write special characters of user and password'
  const notWeb = 'is not a valid address: write it as https://host or https://host:port'
  const addresses: Record<string, string[][]> = {
    DATABASE_URL: [
      ['postgres://user:hidden@one:5432,two:5432/name', hosts],
      ['postgres://user:hidden@one,two/name?target_session_attrs=read-write', hosts],
      ['postgres://user:hidden/a@host:5432/name', invalid],
      ['postgres://user:hidden@host:port/name', invalid],
    ],
    REDIS_URL: [
      ['redis://one:6379,two:6379', hosts],
      ['rediss://:hidden#a@host:6379', invalid],
      ['redis://host:6379/abc', 'has a path that is no number'],
    ],
    ISOBOT_BASE_URL: [
      ['http://bots example', notWeb],
      ['https://$HOST:port', notWeb],
      ['https://bots.example/?x=hidden', 'has a query, a fragment or a user'],
      ['https://user:hidden@bots.example', 'has a query, a fragment or a user'],
    ],
    ...Object.fromEntries(
      ['OIDC_ISSUER', 'S3_ENDPOINT', 'EMBEDDINGS_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'MODELS_URL'].map((name) => [
        name,
        [['https://host:99999', notWeb]],
      ]),
    ),
  }
  for (const [name, wrong] of Object.entries(addresses)) {
    for (const [address, problem] of wrong) {
      const signIn = name === 'OIDC_ISSUER' && { OIDC_CLIENT_ID: 'id', OIDC_CLIENT_SECRET: 'secret' }
      const error = problemsOf({ ...least, ...signIn, [name]: address })
      expect(error).toBeInstanceOf(ConfigError)
      expect(String(error)).toContain(`${name} ${problem}`)
      expect(String(error)).not.toContain('hidden')
    }
  }
  for (const url of [
    'postgres:///name?host=/run/postgresql',
    'postgres://user@/name?host=/run',
    'postgres://[::1]:5432/a,b',
  ])
    expect(readConfig({ ...least, DATABASE_URL: url }).database.url).toBe(url)
  for (const url of ['redis://host:6379', 'rediss://host:6379/', 'redis://host:6379/2'])
    expect(readConfig({ ...least, REDIS_URL: url }).redis).toMatchObject({ url })
})

function problemsOf(environment: NodeJS.ProcessEnv): unknown {
  try {
    return readConfig(environment)
  } catch (error) {
    return error
  }
}

test('openings for outbound requests are hosts, addresses and networks, with or without a port', () => {
  const list = 'Backend.internal:8080, 10.0.0.0/8,127.0.0.1:9000,fd00::/8,[::1]:8080,[fd12::/16]:443,'
  const { allowPrivate } = readConfig({ ...least, OUTBOUND_ALLOW_PRIVATE: list }).outbound
  const written = allowPrivate.map(({ target, port }) => [typeof target === 'string' ? target : target.join('/'), port])
  expect(written).toEqual([
    ['backend.internal', 8080],
    ['10.0.0.0/8', undefined],
    ['127.0.0.1/32', 9000],
    ['fd00::/8', undefined],
    ['::1/128', 8080],
    ['fd12::/16', 443],
  ])
  expect(readConfig(least).outbound.allowPrivate).toEqual([])
})

test.each([
  'http://backend.internal',
  'backend.internal/path',
  'user@backend.internal',
  '*.internal',
  'backend.internal:0',
  'backend.internal:65536',
  'backend.internal:http',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.1',
  '2130706433',
  '0x7f.1',
  '010.0.0.1',
  '300.0.0.1',
  '[backend.internal]:80',
  '[::1',
  '::ffff:10.0.0.1',
  'fd00::/129',
  'two words',
])('the opening "%s" is refused, with what to write', (entry) => {
  const error = problemsOf({ ...least, OUTBOUND_ALLOW_PRIVATE: `10.0.0.0/8,${entry}`, PORT: 'eighty' })
  expect(error).toBeInstanceOf(ConfigError)
  expect(String(error)).toContain(`  OUTBOUND_ALLOW_PRIVATE has an invalid entry, "${entry}": write a host`)
  expect(String(error)).toContain('  PORT ')
})

test('an empty variable counts as not set', () => {
  expect(readConfig({ ...least, REDIS_URL: '', PORT: '' })).toEqual(readConfig(least))
})

test('the configuration cannot be changed', () => {
  expect(() => Object.assign(readConfig(least), { secret: 'other' })).toThrow(TypeError)
})

test('layers that are required are named, and nothing is required unless it is', () => {
  const { sandbox } = readConfig({ ...least, SANDBOX_REQUIRE: 'network, files,privileges,', SANDBOX_PROFILE: 'jit' })
  expect(sandbox).toMatchObject({ require: ['network', 'files', 'privileges'], profile: 'jit' })
  expect(readConfig(least).sandbox).toMatchObject({ require: [], profile: 'hardened' })
})

test('the layers that can be required are those that the sandbox knows', () => {
  expect(isolationLayers).toEqual(sandboxWallNames)
})

test.each(['netwrok', 'network files', 'network,moat'])('the requirement "%s" is refused, with all names', (list) => {
  const error = problemsOf({ ...least, SANDBOX_REQUIRE: list })
  expect(error).toBeInstanceOf(ConfigError)
  expect(String(error)).toContain('  SANDBOX_REQUIRE ')
  expect(String(error)).toContain(isolationLayers.join(', '))
})

test('a profile that does not exist is refused, with those that do', () => {
  expect(String(problemsOf({ ...least, SANDBOX_PROFILE: 'fast' }))).toContain('set it to hardened, or to jit')
})
