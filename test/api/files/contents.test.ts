import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { contentAddress } from '#shared/files/file-addresses.ts'
import { objectPartBytes } from '#shared/files/postgres-object-store.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { insertFile, type TestFile } from './fixture.ts'

let platform: Platform
let botId: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres' })
  botId = (await platform.createBot()).id
})
afterAll(() => platform[Symbol.asyncDispose]())

const bytes = randomBytes(2 * objectPartBytes + 5)
const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`

async function upload(
  options: Parameters<typeof insertFile>[2] = {},
  content: string | Uint8Array<ArrayBuffer> = bytes,
): Promise<TestFile> {
  const file = await insertFile(platform, botId, options)
  expect((await fetch(file.uploadUrl, { method: 'PUT', body: content })).status).toBe(200)
  return file
}

const get = async (file: TestFile, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(await file.url(), { method, headers })

describe('a content', () => {
  test('is served with its type, its hash, and what keeps browsers from running it', async () => {
    const file = await upload({ key: 'a/déjà "vu".html', contentType: 'text/html; charset=utf-8' })
    const response = await get(file, { origin: 'https://shop.example' })
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(bytes.length),
      'content-disposition': `attachment; filename="d_j_ _vu_.html"; filename*=UTF-8''d%C3%A9j%C3%A0%20%22vu%22.html`,
      'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox$/),
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
      etag,
    })
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  })

  test.each([
    ['image/png', 'inline'],
    ['text/plain; charset=utf-8', 'inline'],
    ['image/svg+xml', 'attachment'],
    ['application/xhtml+xml', 'attachment'],
    ['text/javascript', 'attachment'],
  ])('of the type %s is shown or downloaded: %s', async (contentType, disposition) => {
    const response = await get(await upload({ contentType }, 'x'))
    expect(response.headers.get('content-disposition')).toMatch(new RegExp(`^${disposition}; `))
    await response.text()
  })

  test('is served in one range, from any part to any other', async () => {
    const file = await upload()
    const last = bytes.length - 1
    const ranges: [string, number, number][] = [
      ['bytes=0-0', 0, 0],
      [`bytes=${objectPartBytes - 1}-${objectPartBytes}`, objectPartBytes - 1, objectPartBytes],
      ['bytes=-7', last - 6, last],
      ['bytes=10-', 10, last],
      ['bytes=10-99999999', 10, last],
    ]
    for (const [range, start, end] of ranges) {
      const response = await get(file, { range })
      expect(response.status).toBe(206)
      expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${bytes.length}`)
      const read = Buffer.from(await response.arrayBuffer())
      expect({ range, isSame: read.equals(bytes.subarray(start, end + 1)) }).toEqual({ range, isSame: true })
    }
  })

  test('is refused in a range outside of it, and served whole for several ranges or a range of another version', async () => {
    const file = await upload()
    const outside = await get(file, { range: `bytes=${bytes.length}-` })
    expect(outside.status).toBe(416)
    expect(outside.headers.get('content-range')).toBe(`bytes */${bytes.length}`)
    expect(await outside.json()).toMatchObject({ code: 416, type: 'InvalidPayload' })
    for (const headers of [{ range: 'bytes=0-1,5-6' }, { range: 'bytes=0-1', 'if-range': '"other"' }, { range: 'x' }]) {
      const response = await get(file, headers)
      expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, bytes.length])
    }
    const same = await get(file, { range: 'bytes=0-1', 'if-range': etag })
    expect([same.status, (await same.arrayBuffer()).byteLength]).toEqual([206, 2])
  })

  test('is not sent again to a client that has it, nor read for HEAD', async () => {
    const file = await upload()
    const known = await get(file, { 'if-none-match': etag })
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, etag, ''])
    // Its bytes are gone, so that reading them would fail.
    await platform.context.db('file_parts').delete()
    const head = await get(file, {}, 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
    await expect(get(file).then((response) => response.arrayBuffer())).rejects.toThrow(/terminated|fetch failed/)
  })
})

describe('the address of a content', () => {
  test('that is public is permanent, until the file is not public any more', async () => {
    const file = await upload({ isPublic: true }, 'open')
    const url = await file.url()
    expect(url).toMatch(/\/files\/[\w-]+\/hello\.txt$/)
    expect(await (await fetch(url)).text()).toBe('open')
    await platform.context.db('files').where({ id: file.id }).update({ access_policies: [] })
    const closed = await fetch(url)
    expect(closed.status).toBe(404)
    expect(await closed.json()).toMatchObject({ message: expect.stringContaining('not found') })
    expect(await file.url()).not.toBe(url)
    expect(await (await fetch(await file.url())).text()).toBe('open')
  })

  test('that is private ends after an hour, or with the next upsert', async () => {
    const file = await upload({}, 'closed')
    const url = await file.url()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_001 })
    const old = await file.url()
    vi.useRealTimers()
    expect((await fetch(old)).status).toBe(403)
    expect((await fetch(url)).status).toBe(200)
    await platform.context.db('files').where({ id: file.id }).update({ generation: 2 })
    expect((await fetch(url)).status).toBe(404)
  })

  test('serves nothing before the content has come, after the file has expired, or to a foreign signature', async () => {
    const waiting = await insertFile(platform, botId, { isPublic: true })
    expect((await get(waiting)).status).toBe(404)
    const expired = await upload({ isPublic: true }, 'x')
    const past = { expires_at: new Date(Date.now() - 1000) }
    await platform.context.db('files').where({ id: expired.id }).update(past)
    expect((await get(expired)).status).toBe(404)
    const file = await upload({}, 'x')
    const { config } = platform.context
    const row = { id: file.id, key: 'k', generation: 1, public_id: null, access_policies: [] }
    expect((await fetch(contentAddress({ ...config, secret: { current: 'x'.repeat(40) } }, row))).status).toBe(404)
    for (const path of ['/files', '/files/upload', '/files/x', '/files/%00/x', '/files/%ff/x']) {
      expect((await fetch(`${platform.url}${path}`)).status).toBeGreaterThanOrEqual(400)
      expect((await fetch(`${platform.url}${path}`)).status).toBeLessThan(500)
    }
  })
})
