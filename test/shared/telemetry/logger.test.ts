import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { contentAddress, uploadAddress } from '#shared/files/file-addresses.ts'
import { newToken } from '#shared/ids.ts'
import { newTunnelKey } from '#shared/models/tunnel.ts'
import { addLogFields, inLogScope, outsideOfScopes, withLogFields } from '#shared/telemetry/log-scope.ts'
import { createLogger, type Logger } from '#shared/telemetry/logger.ts'
import { encryptJson } from '#shared/secrets.ts'
import { secretsOf } from '#shared/config/telemetry-settings.ts'
import { signUserKey } from '#shared/integrations/user-keys.ts'
import { signSessionToken } from '../../../api/sign-in/session-token.ts'
import { processorMilliseconds } from '../../support/processor-time.ts'

const password = 'pass"word/with:signs@42'
const config = readConfig({
  DATABASE_URL: `postgres://isobot:${encodeURIComponent(password)}@db.internal:5432/isobot`,
  REDIS_URL: 'rediss://:redis-password-of-ours@cache.internal:6379',
  ISOBOT_SECRET: 'the platform’s own secret, which is long',
  ISOBOT_ADMIN_TOKEN: 'the-first-administrator',
  METRICS_TOKEN: 'the-token-of-prometheus',
})

function openLog(): { log: Logger; lines(): Record<string, unknown>[]; text(): string } {
  let text = ''
  const destination = { write: (line: string) => void (text += line) }
  const log = createLogger('test', 'trace', { secrets: secretsOf(config), destination })
  const lines = () =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log, lines, text: () => text }
}

const userKey = await signUserKey('a key that signs other keys, of 32 bytes', 'user-1')
const encrypted = await encryptJson(config.secret, 'bot_1', { WEATHER: 'rain' })
const token = newToken('bak')
const linkToken = newToken('aut')
const sessionToken = await signSessionToken(config.secret, 'session_01M8FJ150TJ1T7H5TARTZ5AAYH')
const upload = new URL(uploadAddress(config, { fileId: 'file_01M8FJ150TJ1T7H5TARTZ5AAYH', generation: 1, maxBytes: 5 }))
const content = new URL(
  contentAddress(config, {
    id: 'file_01M8FJ150TJ1T7H5TARTZ5AAYH',
    key: 'a.txt',
    generation: 12,
    public_id: null,
    access_policies: [],
  }),
)
const { key: tunnelKey } = newTunnelKey(config.secret, {
  workspaceId: 'wkspace_01M8FJ150TJ1T7H5TARTZ5AAYH',
  accountId: 'account_01M8FJ150TJ1T7H5TARTZ5AAYH',
})

/** The signature at the end of a signed text, by which alone it is good. */
const signatureOf = (signed: string): string => signed.split('.').at(-1)!

/** Ways in which a secret may get into a line, each with the secret. */
const leaks: [how: string, secret: string, log: (log: Logger) => void][] = [
  [
    'the platform’s secret in a message',
    config.secret.current,
    (log) => log.info(`The secret is ${config.secret.current}`),
  ],
  ['the administrator’s token in a field', 'the-first-administrator', (log) => log.info({ note: config.adminToken })],
  ['the token for figures in an array', 'the-token-of-prometheus', (log) => log.info({ all: [config.metrics?.token] })],
  ['the database’s address', 'pass', (log) => log.info({ url: config.database.url }, config.database.url)],
  ['the database’s password by itself', 'word/with', (log) => log.info(`It is ${password}.`)],
  [
    'the password of Redis in an error',
    'redis-password-of-ours',
    (log) => log.error(failedCommand('AUTH', 'redis-password-of-ours')),
  ],
  [
    'arguments of a failed command',
    'what-nobody-knows',
    (log) => log.error({ err: failedCommand('SET', 'what-nobody-knows') }),
  ],
  ['the row that a statement failed of', 'row-content', (log) => log.error({ err: failedStatement('row-content') })],
  [
    'a property of an error',
    'in-a-property',
    (log) => log.error({ err: Object.assign(new Error('x'), { input: 'in-a-property' }) }),
  ],
  [
    'an address that cannot be read',
    'unknown-password',
    (log) => log.error({ err: invalidAddress('unknown-password') }),
  ],
  ['an address of somebody else’s', 'not-our-password', (log) => log.info('https://me:not-our-password@example.com/')],
  [
    'the cause of a cause',
    config.secret.current,
    (log) => log.error({ err: caused(caused(new Error(config.secret.current))) }),
  ],
  [
    'one of several errors',
    config.secret.current,
    (log) => log.error({ err: new AggregateError([new Error(config.secret.current)]) }),
  ],
  [
    'the header Authorization',
    'of-a-request',
    (log) => log.info({ headers: { authorization: 'Bearer of-a-request' } }),
  ],
  ['the same in words', 'of-a-request', (log) => log.info('It sent Authorization: Bearer of-a-request')],
  ['a cookie', 'session=1', (log) => log.info({ request: { headers: { cookie: 'session=1' } } })],
  ['a user key', userKey, (log) => log.info({ some: { thing: { deep: { down: userKey } } } })],
  ['what is encrypted', encrypted, (log) => log.info({ row: { configuration: encrypted } })],
  ['a user key in an address', 'abc.def', (log) => log.info({ url: '/chat/x/listen?x-user-key=abc.def&after=1' })],
  ['a token in a message', token, (log) => log.info(`Unknown token ${token}`)],
  ['the link of an authorization', linkToken, (log) => log.info({ path: `/authorize/${linkToken}` })],
  ['the token of a session', signatureOf(sessionToken), (log) => log.info(`Unknown token ${sessionToken}`)],
  ['the address of an upload', signatureOf(upload.pathname), (log) => log.info({ path: upload.pathname })],
  [
    'the address of a private content',
    signatureOf(content.pathname.split('/').at(-2)!),
    (log) => log.info({ path: content.pathname }),
  ],
  [
    'the address of a tunnel',
    signatureOf(tunnelKey),
    (log) => log.info({ path: `/tunnels/${tunnelKey}/of-a-project` }),
  ],
  ['a field that is called token', 'opaque', (log) => log.info({ a: { b: { c: { accessToken: 'opaque' } } } })],
  [
    'a field that is called password',
    'opaque "quoted" \\ one',
    (log) => log.info({ password: 'opaque "quoted" \\ one' }),
  ],
  [
    'a webhook’s secret',
    'opaque',
    (log) => log.info({ configuration: { webhookSecret: 'opaque', encryptionKey: 'opaque' } }),
  ],
  ['the secrets of a bot', 'opaque', (log) => log.info({ body: { secrets: { WEATHER: 'opaque' } } })],
  [
    'JSON in a message',
    'opaque',
    (log) => log.info(JSON.stringify({ token: 'opaque', secrets: { WEATHER: 'opaque' } })),
  ],
  [
    'JSON in JSON',
    'opaque',
    (log) => log.info({ body: JSON.stringify({ body: JSON.stringify({ apiKey: 'opaque' }) }) }),
  ],
  [
    'the fields of a scope',
    config.secret.current,
    (log) => withLogFields({ note: config.secret.current }, () => log.info('In it')),
  ],
  ['a child’s fields', config.secret.current, (log) => log.child({ note: config.secret.current }).info('Of a child')],
]

test.each(leaks)('a secret does not get into the log as %s', (_how, secret, write) => {
  const { log, text, lines } = openLog()
  write(log)
  const isMasked = text().includes('***')
  expect(text()).not.toContain(secret)
  expect(text()).not.toContain(JSON.stringify(secret).slice(1, -1))
  expect(text()).not.toContain(encodeURIComponent(secret))
  expect(lines()).toHaveLength(1)
  expect(isMasked || lines()[0]!['err'] !== undefined).toBe(true)
})

test('errors of the real clients bear neither the password nor what was asked', async () => {
  const { log, text } = openLog()
  const client = new Client({ connectionString: config.database.url.replace('db.internal:5432', '127.0.0.1:1') })
  log.error({ err: await client.connect().catch((error: unknown) => error) }, 'No database')
  const redis = new Redis('redis://:redis-password-of-ours@127.0.0.1:1', {
    lazyConnect: true,
    retryStrategy: () => null,
  })
  redis.on('error', (error) => log.error({ err: error }, 'No Redis'))
  log.error({ err: await redis.set('some-key', 'some-value').catch((error: unknown) => error) }, 'No Redis')
  expect(text()).toContain('ECONNREFUSED')
  expect(text()).not.toMatch(/some-value|redis-password|pass%22word/)
})

test.each([
  ['backslashes', '\\'],
  ['quotation marks', '"'],
  ['what could be the name of a secret', '"secret'],
  ['the words of such names', 'secret'],
  ['what could be a secret in JSON in a string', '\\"token\\":\\"\\'],
  ['what could be a signed token', 'eyJ-'],
])('a request for a long row of %s does not keep the process from others', async (_what, text) => {
  const { log } = openLog()
  const milliseconds = await processorMilliseconds(() => log.info({ path: text.repeat(100_000 / text.length) }))
  expect(milliseconds).toBeLessThan(1000)
})

test('an error says its name, words, code, and causes, and where it was thrown', () => {
  const { log, lines } = openLog()
  const cause = Object.assign(new TypeError('the cause'), { code: 'ECONNRESET', port: 5432 })
  log.error({ err: new Error('It failed', { cause }) }, 'Something failed')
  expect(lines()[0]).toMatchObject({
    msg: 'Something failed',
    err: { type: 'Error', message: 'It failed', stack: expect.stringContaining('logger.test.ts') },
  })
  expect(lines()[0]).toMatchObject({ err: { cause: { type: 'TypeError', code: 'ECONNRESET', port: 5432 } } })
})

describe('log lines within a scope', () => {
  test('bears its fields, those of the scopes around it, and what became known on the way', async () => {
    const { log, lines } = openLog()
    await withLogFields({ jobId: '7' }, async () => {
      await withLogFields({ eventId: 'evt_1' }, async () => {
        await new Promise((resolve) => setImmediate(resolve))
        addLogFields({ botId: 'bot_1' })
        log.info({ more: 1 }, 'Inside')
        outsideOfScopes(() => log.info('Of something else'))
      })
      log.info('After')
    })
    log.info('Outside')
    const [inside, other, after, outside] = lines()
    expect(inside).toMatchObject({ jobId: '7', eventId: 'evt_1', botId: 'bot_1', more: 1 })
    expect(after).toMatchObject({ jobId: '7' })
    for (const line of [other, outside]) expect(line).not.toHaveProperty('jobId')
    expect(after).not.toHaveProperty('eventId')
    expect(after).not.toHaveProperty('botId')
  })

  test('does not mix with what happens at the same time', async () => {
    const { log, lines } = openLog()
    const say = (requestId: string) =>
      inLogScope({ requestId }, async () => {
        for (let step = 0; step < 3; step += 1) {
          await new Promise((resolve) => setImmediate(resolve))
          log.info(requestId)
        }
      })
    await Promise.all([say('a'), say('b'), say('c')])
    expect(lines()).toHaveLength(9)
    for (const line of lines()) expect(line['requestId']).toBe(line['msg'])
  })
})

function failedCommand(name: string, argument: string): Error {
  return Object.assign(new Error('ERR it failed'), { command: { name, args: [argument] } })
}

function failedStatement(content: string): Error {
  const of = { code: '23505', detail: `Key (name)=(${content}) already exists.`, where: content, parameters: [content] }
  return Object.assign(new Error('duplicate key value violates unique constraint "bots_pkey"'), of)
}

function invalidAddress(password: string): unknown {
  try {
    return new URL(`postgres://isobot:${password}@host:port/`)
  } catch (error) {
    return error
  }
}

function caused(cause: Error): Error {
  return new Error('Something failed', { cause })
}

// Each write to this device fails as on a full disk.
const fullDevice = '/dev/full'

test.skipIf(!existsSync(fullDevice))(
  'a process whose standard output is on a full disk works on, and ends',
  async () => {
    await using full = await open(fullDevice, 'w')
    const program = join(import.meta.dirname, 'full-output.ts')
    const child = spawn(process.execPath, [program], { stdio: ['ignore', full.fd, 'pipe'], timeout: 30_000 })
    const [said, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')])
    expect({ said, code }).toEqual({ said: 'worked on', code: 0 })
  },
)
