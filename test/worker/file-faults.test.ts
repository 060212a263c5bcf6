import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Context } from '#shared/context.ts'
import { dispatch } from '#shared/dispatch.ts'
import { receiveUpload } from '#shared/files/receive-upload.ts'
import { claimTableJob } from '#shared/store/table-jobs.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import type { WorkerContext } from '../../worker/context.ts'
import { openFileSweep } from '../../worker/periodic/file-sweep.ts'
import { exportRows } from '../../worker/tables/export-rows.ts'
import { insertFile, type TestFile } from '../api/files/fixture.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'

/** Time for a busy machine. */
const patience = { timeout: 30_000, interval: 20 }

const processes = new Processes()
let platform: Platform
let botId: string
beforeAll(async () => {
  const environment = { WORKER_SWEEP_SECONDS: '1', WORKER_LOCK_SECONDS: '2', WORKER_STALLED_SECONDS: '1' }
  platform = await openPlatform({ worker: false, backEnd: 'postgres', environment })
})
beforeEach(async () => {
  botId = (await platform.createBot()).id
})
afterEach(async () => {
  await processes.stop()
  await db()('files').delete()
  await sweepLater()
  const orphans = await db()('file_objects')
  if (orphans.length > 0) throw new Error(`The sweep has left ${orphans.length} objects`)
})
afterAll(() => platform[Symbol.asyncDispose]())

const db = () => platform.context.db
const put = (url: string, body: string | Uint8Array<ArrayBuffer>) => fetch(url, { method: 'PUT', body })
const contentOf = async (file: TestFile) => Buffer.from(await (await fetch(await file.url())).arrayBuffer())

/** Lets the sweep find that hours are over. */
async function sweepLater(): Promise<void> {
  const earlier = new Date(Date.now() - 4 * 3600 * 1000)
  await db()('file_objects').update({ created_at: earlier })
  await db()('file_objects').whereNotNull('completed_at').update({ completed_at: earlier })
  await openFileSweep(platform.context).run()
}

test(
  'a worker killed in the middle of an indexing leaves nothing, and another one indexes the file once',
  { timeout: 90_000 },
  async () => {
    const file = await insertFile(platform, botId, { key: 'birds.md', contentType: 'text/markdown' })
    await db()('files').where({ id: file.id }).update({ index: true })
    const paragraphs = Array.from({ length: 40 }, (_, n) => `# Bird ${n}\n\nThe bird ${n} sings in the morning.`)
    expect((await put(file.uploadUrl, paragraphs.join('\n\n'))).status).toBe(200)
    // The passages of a bot are stored under this lock: the worker waits there, in its transaction.
    const lock = await db().transaction()
    onTestFinished(async () => void (await lock.rollback().catch(() => {})))
    await lock.raw(`select pg_advisory_xact_lock(hashtext('passages'), hashtext(?))`, [botId])
    const killed = await processes.start(platform, 'worker')
    const waiting = async () =>
      (await db().raw(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).rows
    await vi.waitFor(async () => expect(await waiting()).not.toEqual([]), patience)
    process.kill(killed.pid, 'SIGKILL')
    await killed.exited
    await lock.rollback()
    expect(await file.row()).toMatchObject({ status: 'indexing_pending' })

    await processes.start(platform, 'worker')
    await vi.waitFor(async () => expect(await file.row()).toMatchObject({ status: 'indexing_completed' }), patience)
    const passages = await db()('passages').where({ file_id: file.id }).orderBy('position')
    expect(passages.map(({ position }) => position)).toEqual(passages.map((_, index) => index))
    const texts = passages.map(({ text }) => text).join('\n')
    for (let n = 0; n < 40; n += 1) expect(texts.split(`The bird ${n} sings`)).toHaveLength(2)
  },
)

test(
  'an api killed between the last byte of a content and its commit leaves the upload to be repeated, and no orphan',
  { timeout: 60_000 },
  async () => {
    const file = await insertFile(platform, botId)
    const address = new URL(file.uploadUrl)
    address.port = String(await freePort())
    const api = await processes.start(platform, 'api', { PORT: address.port })
    await vi.waitFor(() => fetch(new URL('/healthz', address)), patience)
    const lock = await db().transaction()
    onTestFinished(async () => void (await lock.rollback().catch(() => {})))
    await lock('files').where({ id: file.id }).forUpdate()
    const upload = put(address.href, randomBytes(1_000_000)).then(
      () => 'answered',
      () => 'broken off',
    )
    await vi.waitFor(
      async () => expect(await db()('file_objects').whereNotNull('completed_at')).toHaveLength(1),
      patience,
    )
    process.kill(api.pid, 'SIGKILL')
    await api.exited
    await lock.rollback()
    expect(await upload).toBe('broken off')

    const again = await put(file.uploadUrl, randomBytes(1000))
    expect(again.status).toBe(200)
    expect((await contentOf(file)).length).toBe(1000)
    await sweepLater()
    expect(await db()('file_objects')).toHaveLength(1)
    expect((await contentOf(file)).length).toBe(1000)
  },
)

/** A context whose transactions are carried out, but whose answers are lost with the connection. */
function losingAnswers(context: Context): Context {
  const lossy = new Proxy(context.db, {
    get(target, name, receiver) {
      if (name !== 'transaction') return Reflect.get(target, name, receiver) as unknown
      return async (work: (transaction: Context['db']) => Promise<unknown>) => {
        await target.transaction(work)
        throw new Error('Connection terminated unexpectedly')
      }
    },
  })
  return { ...context, db: lossy }
}

test('a content stays when the answer to the commit of its upload is lost', async () => {
  const file = await insertFile(platform, botId)
  const bytes = randomBytes(700_000)
  const token = new URL(file.uploadUrl).pathname.split('/').at(-1)!
  const upload = { token, length: bytes.length, open: () => Readable.from([bytes]) }
  await expect(receiveUpload(losingAnswers(platform.context), upload)).rejects.toThrow('terminated')
  expect(await file.row()).toMatchObject({ status: 'upload_completed' })
  expect((await contentOf(file)).equals(bytes)).toBe(true)
  await sweepLater()
  expect((await contentOf(file)).equals(bytes)).toBe(true)
})

test('an export keeps its content when the answer to its commit is lost', async () => {
  const asBot = { 'x-bot-id': botId }
  await platform.ask('POST', '/v1/tables', { name: 'birdsTable', schema: { name: 'x' } }, asBot)
  await platform.ask('POST', '/v1/tables/birdsTable/rows', { rows: [{ name: 'wren' }] }, asBot)
  const { body } = await platform.ask('GET', '/v1/tables/birdsTable/export?compress=false', undefined, asBot)
  const { id } = body.job
  const job = (await claimTableJob(db(), id))!
  await expect(exportRows(losingAnswers(platform.context) as WorkerContext, job)).rejects.toThrow('terminated')
  const { status, output_file_id: fileId } = (await db()('table_jobs').where({ id }).first())!
  expect(status).toBe('completed')
  await sweepLater()
  const { file } = (await platform.ask('GET', `/v1/files/${fileId}`, undefined, asBot)).body
  expect(await (await fetch(file.url)).text()).toContain('wren')
})

test('a copy keeps its content when the answer to its commit is lost', async () => {
  const file = await insertFile(platform, botId)
  const bytes = randomBytes(700_000)
  await put(file.uploadUrl, bytes)
  const copied = await dispatch(losingAnswers(platform.context), {
    method: 'POST',
    path: `/v1/files/${file.id}/copy.txt`,
    query: {},
    body: async () => ({}),
    identify: () => ({ kind: 'bot', botId }),
  }).catch(({ status }: { status: number }) => ({ status }))
  expect(copied.status).toBeGreaterThanOrEqual(500)
  const copy = (await platform.ask('GET', '/v1/files/copy.txt', undefined, { 'x-bot-id': botId })).body.file
  expect(copy).toMatchObject({ size: bytes.length, status: 'upload_completed' })
  const served = await fetch(copy.url)
  expect(Buffer.from(await served.arrayBuffer()).equals(bytes)).toBe(true)
  await sweepLater()
  expect((await fetch(copy.url)).status).toBe(200)
})

test('an upload to a file that expires meanwhile is refused, and nothing of it stays', async () => {
  const file = await insertFile(platform, botId)
  const { promise: expired, resolve: go } = Promise.withResolvers<void>()
  async function* content() {
    yield randomBytes(600_000)
    await expired
    yield randomBytes(10)
  }
  const body = Readable.toWeb(Readable.from(content()))
  const upload = fetch(file.uploadUrl, { method: 'PUT', body, duplex: 'half' })
  await vi.waitFor(async () => expect(await db()('file_parts')).toHaveLength(1), patience)
  await db()('files').where({ id: file.id }).update({ expires_at: new Date() })
  go()
  expect((await upload).status).toBe(409)
  expect(await db()('file_objects')).toEqual([])
  await openFileSweep(platform.context).run()
  expect(await file.row()).toBeUndefined()
})
