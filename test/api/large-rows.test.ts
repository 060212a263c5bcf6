import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { megabyte } from '#shared/units.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { startProcess } from '../support/processes.ts'

let platform: Platform
let botId: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  botId = (await platform.createBot()).id
  await ask('POST', '/v1/tables', {
    name: 'LargeTable',
    factor: 10,
    schema: { text: { type: 'string' }, list: { type: 'array' } },
  })
})
afterAll(() => platform[Symbol.asyncDispose]())

const ask = (method: string, path: string, body?: object) => platform.ask(method, path, body, { 'x-bot-id': botId })

interface Answer {
  message?: string
  rows?: object[]
  warnings?: string[]
}

/** Sends rows to a table. The api may answer before the end of the body. */
async function send(
  body: string | Buffer,
  headers: Record<string, string | number> = {},
  method = 'POST',
  url = platform.url,
) {
  const sending = request(`${url}/v1/tables/LargeTable/rows`, {
    method,
    headers: {
      authorization: `Bearer ${platform.token}`,
      'x-workspace-id': platform.workspaceId,
      'x-bot-id': botId,
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  })
  const answered = once(sending, 'response')
  answered.catch(() => {})
  sending.on('error', () => {})
  sending.end(body)
  const [answer] = (await answered) as [IncomingMessage]
  return { status: answer.statusCode, body: (await json(answer)) as Answer }
}

const rowsOf = (megabytes: number) => {
  const row = `{"text":"${'x'.repeat(40_000)}"}`
  const count = Math.floor((megabytes * megabyte) / (row.length + 1))
  return Buffer.from(`{"rows":[${Array.from({ length: count }, () => row).join(',')}]}`)
}

async function countRows(): Promise<number> {
  return (await ask('GET', '/v1/tables/LargeTable')).body.rows
}

test('rows of 38 MB are stored by one call, and answered', async () => {
  const { status, body } = await send(rowsOf(38))
  expect({ status, rows: body.rows?.length }).toEqual({ status: 200, rows: 995 })
  expect(body.rows?.[994]).toMatchObject({ id: 995, text: 'x'.repeat(40_000) })
  expect(await countRows()).toBe(995)
  await ask('POST', '/v1/tables/LargeTable/rows/delete', { deleteAllRows: true })
}, 60_000)

test('a body may have 40 MB, those of other operations on tables one', async () => {
  const tooLong = '{"rows":[{}]}'.padEnd(40 * megabyte + 1)
  expect(await send(tooLong)).toMatchObject({ status: 413, body: { type: 'PayloadTooLarge' } })
  const found = await ask('POST', '/v1/tables/LargeTable/rows/find', { search: 'x'.repeat(megabyte) })
  expect(found).toMatchObject({ status: 413, body: { type: 'PayloadTooLarge' } })
})

test.each([
  ['40 MB of brackets', '['.repeat(40 * megabyte), 400, 'nested'],
  ['40 MB of brackets in a row', `{"rows":[{"text":${'['.repeat(39 * megabyte)}`, 400, 'nested'],
  ['40 MB in one text', `{"rows":[{"text":"${'x'.repeat(39 * megabyte)}"}]}`, 413, 'rows.0 has more than 512 KB'],
  ['millions of lists beside the rows', `{"rows":[{}],"a":[${'[],'.repeat(13e6)}0]}`, 413, "beside 'rows'"],
  ['a row that is no JSON', `{"rows":[${'{},'.repeat(500)}{"text":}]}`, 400, 'not valid JSON'],
  [
    'a row that is not UTF-8',
    Buffer.from('{"rows":[{"text":"a"},{"text":"\xe9"}]}', 'latin1'),
    400,
    'The body is not valid UTF-8: send JSON in UTF-8',
  ],
  [
    'another field that is not UTF-8',
    Buffer.from('{"keyColumn":"\xe9","rows":[{"text":"a"}]}', 'latin1'),
    400,
    'The body is not valid UTF-8: send JSON in UTF-8',
  ],
  ['a row that is no object', '{"rows":[{},5]}', 400, 'rows.1 must be object'],
  ['no row', '{"rows":[]}', 400, 'rows must NOT have fewer than 1 items'],
  ['1001 rows', `{"rows":[${'{},'.repeat(1000)}{}]}`, 400, 'rows must NOT have more than 1000 items'],
])('a body with %s stores nothing', async (_, body, status, message) => {
  expect(await send(body)).toMatchObject({ status, body: { message: expect.stringContaining(message) } })
  expect(await countRows()).toBe(0)
})

test('a change of a row without an id is refused with its place', async () => {
  const { status, body } = await send('{"rows":[{"id":1},{"text":"x"}]}', {}, 'PUT')
  expect({ status, message: body.message }).toEqual({
    status: 400,
    message: "rows.1 must have required property 'id'",
  })
})

test('fields of prototypes are unknown columns', async () => {
  const { body } = await send('{"rows":[{"text":"a","__proto__":{"text":"b"},"constructor":1}],"__proto__":{"rows":1}}')
  expect(body.rows).toMatchObject([{ text: 'a' }])
  expect(body.warnings).toEqual(['__proto__', 'constructor'].map((name) => expect.stringContaining(`'${name}'`)))
  expect({}).not.toHaveProperty('text')
})

test('a compressed body, and one in another encoding of Unicode, are read', async () => {
  const body = JSON.stringify({ rows: [{ text: 'ü€😀' }] })
  expect((await send(gzipSync(body), { 'content-encoding': 'gzip' })).body.rows).toMatchObject([{ text: 'ü€😀' }])
  const utf16 = { 'content-type': 'application/json; charset=utf-16le' }
  expect((await send(Buffer.from(body, 'utf16le'), utf16)).body.rows).toMatchObject([{ text: 'ü€😀' }])
})

test('a call with an idempotency key has 1 MB, and its repetition the first answer', async () => {
  const key = { 'idempotency-key': 'a-key-of-rows' }
  expect((await send(rowsOf(2), key)).status).toBe(413)
  const [first, second] = [await send('{"rows":[{"text":"once"}]}', key), await send('{"rows":[{"text":"once"}]}', key)]
  expect(second).toEqual(first)
})

test.runIf(process.platform === 'linux')(
  'millions of values in rows never take their parsed size of a gigabyte',
  { timeout: 60_000 },
  async () => {
    const port = await freePort()
    const api = await startProcess(platform, 'api', { PORT: String(port) })
    try {
      const url = `http://127.0.0.1:${port}`
      const health = () => fetch(`${url}/healthz`).catch(() => ({ status: 0 }))
      await expect.poll(health, { timeout: 30_000 }).toMatchObject({ status: 200 })
      const quiet = await peakMegabytes(api.pid)
      const row = `{"list":[${'[],'.repeat(13_000)}0]}`
      const { status } = await send(`{"rows":[${Array.from({ length: 1000 }, () => row).join(',')}]}`, {}, 'POST', url)
      expect(status).toBe(200)
      // A list of JSON that is parsed and answered whole takes more than 1000 MB; this takes some 120.
      expect((await peakMegabytes(api.pid)) - quiet).toBeLessThan(300)
    } finally {
      await api.stop()
    }
  },
)

async function peakMegabytes(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

test('of several large bodies of a bot, those without room are refused, and the others stored', async () => {
  const before = await countRows()
  const body = rowsOf(38)
  const answers = await Promise.all([1, 2, 3].map(() => send(body).catch(() => ({ status: 503 }))))
  const stored = answers.filter(({ status }) => status === 200).length
  expect(answers.map(({ status }) => status)).toContain(503)
  expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([])
  expect((await countRows()) - before).toBe(stored * 995)
}, 60_000)

describe('answers that clients do not read', { timeout: 60_000 }, () => {
  const unread: IncomingMessage[] = []
  afterEach(() => unread.splice(0).forEach((answer) => answer.destroy()))
  const rowCount = 400
  const change = (n: number) => ({ rows: Array.from({ length: rowCount }, (_, index) => ({ id: index + 1, n })) })

  beforeAll(async () => {
    await ask('POST', '/v1/tables', {
      name: 'WideTable',
      factor: 10,
      schema: { n: { type: 'number' }, text: { type: 'string' } },
    })
    for (let n = 0; n < rowCount; n += 100) {
      const rows = Array.from({ length: 100 }, () => ({ text: 'x'.repeat(35_000) }))
      await ask('POST', '/v1/tables/WideTable/rows', { rows })
    }
  })

  /** @returns the status. The answer stays in the memory of the api. */
  async function askUnread(method: string, path: string, body: object, bot = botId): Promise<number> {
    const sending = request(`${platform.url}/v1/tables/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${platform.token}`,
        'x-workspace-id': platform.workspaceId,
        'x-bot-id': bot,
      },
    })
    sending.end(JSON.stringify(body))
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    answer.on('error', () => {})
    unread.push(answer)
    return answer.statusCode!
  }

  test.each([
    ['of finds', 20, () => askUnread('POST', 'WideTable/rows/find', { limit: rowCount })],
    [
      'of small changes to large rows',
      5,
      () =>
        askUnread('PUT', 'WideTable/rows', { rows: Array.from({ length: rowCount }, (_, n) => ({ id: n + 1, n })) }),
    ],
  ])('%s are made up to 50 MB of one bot, and others go on', async (_title, count, send14Megabytes) => {
    const statuses: number[] = []
    for (let sent = 0; sent < count; sent += 1) statuses.push(await send14Megabytes())
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    expect(statuses.filter((status) => status === 503)).toHaveLength(count - 3)
    expect((await ask('GET', '/v1/tables/WideTable')).body.rows).toBe(rowCount)
    const few = await ask('POST', '/v1/tables/WideTable/rows/find', { limit: 5 })
    expect(few.body.rows).toHaveLength(5)
    for (const answer of unread) answer.destroy()
    await expect.poll(send14Megabytes, { timeout: 20_000, interval: 200 }).toBe(200)
  })

  test('a change without room for its answer changes nothing', async () => {
    for (let n = 0; n < 4; n += 1) await askUnread('PUT', 'WideTable/rows', change(100 + n))
    const { body } = await ask('POST', '/v1/tables/WideTable/rows/find', { limit: 1, select: ['n'] })
    expect(body.rows[0].n).toBe(102)
  })
})
