import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '#shared/config.ts'

const least = { DATABASE_URL: 'postgres://localhost/isobot', ISOBOT_SECRET: 's'.repeat(32) }

test('a database and a secret are enough', () => {
  expect(readConfig(least)).toMatchObject({
    database: { url: least.DATABASE_URL, poolSize: 10, allowSelfSigned: false },
    http: { port: 3000, baseUrl: 'http://localhost:3000' },
    worker: { concurrency: 100 },
    sandbox: { memoryMegabytes: 64, cpuMilliseconds: 2000, wallMilliseconds: 60_000 },
    hasParent: false,
  })
  expect(readConfig(least).redis).toBeUndefined()
})

test('a worker that died is noticed within forty seconds', () => {
  const { lockMilliseconds, stalledMilliseconds } = readConfig(least).worker
  // The lock must run out, and then two looks must follow; each may come nearly two intervals after the one before.
  expect(lockMilliseconds + 4 * stalledMilliseconds).toBeLessThan(40_000)
})

test('all problems are reported at once, each with what to do', () => {
  const environment = { PORT: 'eighty', REDIS_URL: 'localhost:6379', ISOBOT_SECRET: 'short', WORKER_CONCURRENCY: '0' }
  const error = problemsOf(environment)
  expect(error).toBeInstanceOf(ConfigError)
  for (const name of ['DATABASE_URL', 'PORT', 'REDIS_URL', 'ISOBOT_SECRET', 'WORKER_CONCURRENCY']) {
    expect(String(error)).toContain(`  ${name} `)
  }
  expect(String(error)).toContain('openssl rand -hex 32')
  expect(String(error)).not.toContain('short')
})

function problemsOf(environment: NodeJS.ProcessEnv): unknown {
  try {
    return readConfig(environment)
  } catch (error) {
    return error
  }
}

test('an empty variable counts as not set', () => {
  expect(readConfig({ ...least, REDIS_URL: '', PORT: '' })).toEqual(readConfig(least))
})

test('the configuration cannot be changed', () => {
  expect(() => Object.assign(readConfig(least), { secret: 'other' })).toThrow(TypeError)
})
