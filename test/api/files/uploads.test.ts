import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request, type ClientRequest } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { uploadAddress } from '#shared/files/file-addresses.ts'
import { objectPartBytes } from '#shared/files/postgres-object-store.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { startProcess } from '../../support/processes.ts'
import { startS3 } from '../../support/s3.ts'
import { insertFile, type TestFile } from './fixture.ts'

/** Time for a busy machine. */
const patience = { timeout: 10_000, interval: 20 }

const parts = new AsyncDisposableStack()
const environments: Record<string, NodeJS.ProcessEnv> = { postgres: {} }
let platform: Platform
let botId: string
let file: TestFile
beforeAll(async () => {
  environments['s3'] = parts.use(await startS3()).environment
})
afterAll(() => parts.disposeAsync())

const put = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body, headers })
const errorOf = async (response: Response) => ({ status: response.status, ...((await response.json()) as object) })
const objects = () => platform.context.db('file_objects').orderBy('id')
const partsOf = (id: string) => platform.context.db('file_parts').where({ object_id: id })

/** Begins an upload whose body the test sends. */
function begin(url: string, headers: Record<string, string | number> = {}): ClientRequest {
  const upload = request(url, { method: 'PUT', headers })
  upload.on('error', () => {})
  onTestFinished(() => void upload.destroy())
  return upload
}

async function answerOf(upload: ClientRequest): Promise<{ status: number; body: string }> {
  const [response] = await once(upload, 'response')
  return { status: response.statusCode, body: await text(response) }
}

describe.each(['postgres', 's3'])('contents in %s', (store) => {
  beforeAll(async () => {
    const environment = { FILE_MB: '5', ...environments[store] }
    platform = await openPlatform({ worker: false, backEnd: 'postgres', environment })
    botId = (await platform.createBot()).id
    return () => platform[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    file = await insertFile(platform, botId)
  })

  describe('an upload', () => {
    test.each([
      ['of a text', Buffer.from('déjà vu')],
      ['of no bytes', Buffer.alloc(0)],
      ['of several parts', randomBytes(3 * objectPartBytes + 11)],
    ])('%s is the content of the file when it is answered', async (_, bytes) => {
      const response = await put(file.uploadUrl, bytes, { 'x-amz-tagging': 'public=true' })
      expect([response.status, await response.text()]).toEqual([200, ''])
      expect(await file.row()).toMatchObject({ status: 'upload_completed', size: String(bytes.length) })
      const content = await fetch(await file.url())
      expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true)
    })

    test('may come in chunks, without an announced length', async () => {
      const body = Readable.from([randomBytes(objectPartBytes), randomBytes(77)])
      const response = await fetch(file.uploadUrl, { method: 'PUT', body: Readable.toWeb(body), duplex: 'half' })
      expect(response.status).toBe(200)
      expect(await file.row()).toMatchObject({ size: String(objectPartBytes + 77) })
    })

    test('is accepted once: its address is refused afterwards, and the content stays', async () => {
      await put(file.uploadUrl, 'first')
      const again = await errorOf(await put(file.uploadUrl, 'second'))
      expect(again).toMatchObject({ status: 409, type: 'ResourceLockedConflict', id: expect.stringMatching(/^err_/) })
      expect(await (await fetch(await file.url())).text()).toBe('first')
    })

    test('by two clients at the same moment is accepted from one of them, and the bytes of the other are removed', async () => {
      const before = (await objects()).length
      const answers = await Promise.all(['one', 'two'].map((body) => put(file.uploadUrl, body)))
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409])
      expect((await objects()).length).toBe(before + 1)
    })

    test('to the address of an older upsert is refused, whether that was before or during the upload', async () => {
      const { db } = platform.context
      const upload = begin(file.uploadUrl)
      upload.write(randomBytes(objectPartBytes + 1))
      await vi.waitFor(async () => expect(await db('file_objects').whereNull('completed_at')).toHaveLength(1), patience)
      await db('files').where({ id: file.id }).update({ generation: 2 })
      expect(await errorOf(await put(file.uploadUrl, 'late'))).toMatchObject({ status: 409 })
      upload.end('rest')
      expect(await answerOf(upload)).toMatchObject({ status: 409 })
      expect(await db('file_objects').whereNull('completed_at')).toEqual([])
      const newer = uploadAddress(platform.context.config, { fileId: file.id, generation: 2 })
      expect((await put(newer, 'new')).status).toBe(200)
      expect(await (await fetch(await file.url())).text()).toBe('new')
    })

    test('of a file that is deleted meanwhile is refused, and its bytes are removed', async () => {
      const { db } = platform.context
      const upload = begin(file.uploadUrl)
      upload.write(randomBytes(objectPartBytes * 2))
      await vi.waitFor(async () => expect(await db('file_objects').whereNull('completed_at')).toHaveLength(1), patience)
      await db('files').where({ id: file.id }).delete()
      upload.end()
      expect((await answerOf(upload)).status).toBeGreaterThanOrEqual(404)
      expect(await db('file_objects').whereNull('completed_at')).toEqual([])
      expect(await errorOf(await put(file.uploadUrl, 'late'))).toMatchObject({
        status: 404,
        message: expect.stringContaining('not found'),
      })
    })

    test('of which the client breaks off leaves nothing', async () => {
      const before = (await objects()).length
      const upload = begin(file.uploadUrl, { 'content-length': 10 * objectPartBytes })
      upload.write(randomBytes(objectPartBytes * 2))
      await vi.waitFor(async () => expect((await objects()).length).toBe(before + 1), patience)
      upload.destroy()
      await vi.waitFor(async () => expect((await objects()).length).toBe(before), patience)
      expect(await file.row()).toMatchObject({ status: 'upload_pending', object_id: null })
      expect((await put(file.uploadUrl, 'again')).status).toBe(200)
    })

    test(
      'that was cut off by a killed api leaves a row that names its bytes, and can be repeated',
      { timeout: 40_000 },
      async () => {
        const { db } = platform.context
        const address = new URL(file.uploadUrl)
        address.port = String(await freePort())
        const api = await startProcess(platform, 'api', { PORT: address.port })
        onTestFinished(async () => void (await api.stop()))
        await vi.waitFor(() => fetch(new URL('/health', address)), { timeout: 20_000, interval: 50 })
        const upload = begin(address.href)
        upload.write(randomBytes(objectPartBytes * 3))
        const begun = await vi.waitFor(async () => {
          const [object] = await db('file_objects').whereNull('completed_at')
          expect(object).toBeDefined()
          // A part of an upload to the bucket is larger than this content: there, only the row shows that it has begun.
          expect(store === 's3' || (await partsOf(object!.id)).length > 0).toBe(true)
          return object!
        }, patience)
        api.kill()
        await api.exited
        expect(begun).toMatchObject({ bot_id: botId, store, size: null })
        expect(await file.row()).toMatchObject({ status: 'upload_pending', object_id: null })
        expect((await put(file.uploadUrl, 'again')).status).toBe(200)
        await db('file_objects').where({ id: begun.id }).delete()
      },
    )
  })

  describe('an upload address', () => {
    test('that is forged, of another purpose or expired is refused in the platform’s error format', async () => {
      await put(file.uploadUrl, 'content')
      const { config } = platform.context
      const foreign = uploadAddress(
        { ...config, secret: { current: 'x'.repeat(40) } },
        { fileId: file.id, generation: 1 },
      )
      const [, , contentToken] = new URL(await file.url()).pathname.split('/')
      for (const url of [foreign, `${platform.url}/files/upload/${contentToken}`, `${platform.url}/files/upload/x`]) {
        expect(await errorOf(await put(url, 'x'))).toMatchObject({ status: 404, type: 'ResourceNotFound' })
      }
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 25 * 3600 * 1000 })
      const expired = uploadAddress(config, { fileId: file.id, generation: 1 })
      vi.useRealTimers()
      expect(await errorOf(await put(expired, 'x'))).toMatchObject({ status: 403, type: 'Forbidden' })
    })

    test('lets pages of any origin send the headers of published clients, without credentials', async () => {
      const headers = {
        origin: 'https://shop.example',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type,x-amz-tagging',
      }
      const preflight = await fetch(file.uploadUrl, { method: 'OPTIONS', headers })
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
      expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
      expect(preflight.headers.get('access-control-allow-headers')).toContain('x-amz-tagging')
      expect(preflight.headers.has('access-control-allow-credentials')).toBe(false)
      const answer = await put(file.uploadUrl, 'x', { origin: 'https://shop.example' })
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    })
  })

  describe('a content beyond the file’s allowance', () => {
    const allowance = 5 * 1024 * 1024

    test('is refused before it is read where its length is announced, and the client reads the answer', async () => {
      const upload = begin(file.uploadUrl, { 'content-length': allowance + 1 })
      upload.write(randomBytes(1024 * 1024))
      const { status, body } = await answerOf(upload)
      expect(status).toBe(403)
      expect(JSON.parse(body)).toMatchObject({
        type: 'QuotaExceeded',
        message: expect.stringContaining(String(allowance)),
      })
    })

    test('is cut off one byte past it otherwise, and nothing of it stays', async () => {
      const before = (await objects()).length
      let sent = 0
      const upload = begin(file.uploadUrl)
      const answered = { yes: false }
      const answer = answerOf(upload).finally(() => (answered.yes = true))
      const chunk = Buffer.alloc(64 * 1024)
      while (sent < 20 * allowance && !upload.destroyed && !answered.yes) {
        sent += chunk.length
        if (!upload.write(chunk)) await Promise.race([once(upload, 'drain'), answer])
      }
      expect((await answer).status).toBe(403)
      expect(await file.row()).toMatchObject({
        status: 'upload_failed',
        failed_status_reason: expect.stringContaining('MB'),
      })
      expect(sent).toBeLessThan(10 * allowance)
      expect((await objects()).length).toBe(before)
    })
  })
})
