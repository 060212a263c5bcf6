import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { copyObject, readObject, removeObject, writeObject } from '#shared/files/objects.ts'
import { objectPartBytes } from '#shared/files/postgres-object-store.ts'
import type { StoreName } from '#shared/config/s3-settings.ts'
import { findObject } from '#shared/store/file-objects.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { s3PartBytes } from '#shared/files/s3-object-store.ts'
import { startS3, type S3Server } from '../../support/s3.ts'

/** Time for a busy machine. */
const patience = { timeout: 10_000, interval: 20 }

const parts = new AsyncDisposableStack()
let s3: S3Server
const platforms: Partial<Record<StoreName, Platform>> = {}
/** The platform of the store under test. */
let platform: Platform
let botId: string
beforeAll(async () => {
  s3 = parts.use(await startS3())
  platforms.postgres = parts.use(await openPlatform({ worker: false, backEnd: 'postgres' }))
  const environment = s3.environment
  platforms.s3 = parts.use(await openPlatform({ worker: false, backEnd: 'postgres', environment }))
})
afterAll(() => parts.disposeAsync())

const write = (content: AsyncIterable<Uint8Array>, limit = Infinity, length?: number) =>
  writeObject(platform.context, botId, content, { limit, length })
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
/** The objects of which a store has bytes. */
async function stored(store: StoreName): Promise<string[]> {
  if (store === 's3') return [...(await s3.keys()), ...(await s3.uploads())]
  return (await platform.context.db('file_parts').distinct('object_id')).map(({ object_id: id }) => id)
}
const rows = async () => (await platform.context.db('file_objects')).map(({ id }) => id)
/** Bytes that no row names. */
async function orphans(store: StoreName): Promise<string[]> {
  const known = await rows()
  return (await stored(store)).filter((id) => !known.includes(id))
}

async function* failing() {
  yield Buffer.alloc(2 * objectPartBytes)
  throw new Error('the client has gone')
}

describe.each(['postgres', 's3'] as const)('an object in %s', (store) => {
  beforeAll(async () => {
    platform = platforms[store]!
    botId = (await platform.createBot()).id
  })

  test.each([
    ['no bytes', 0],
    ['one byte', 1],
    ['exactly two parts', 2 * objectPartBytes],
    ['three parts and a byte', 3 * objectPartBytes + 1],
  ])('of %s is read as it was written, with its size and hash', async (_, size) => {
    const bytes = randomBytes(size)
    const object = await write(Readable.from([bytes], { objectMode: true }))
    expect(object).toMatchObject({ size, sha256: hashOf(bytes) })
    expect(await buffer(readObject(platform.context, object))).toEqual(bytes)
    expect(await findObject(platform.context.db, object.id)).toEqual(object)
  })

  test('is read in ranges, across parts', async () => {
    const bytes = randomBytes(3 * objectPartBytes)
    const object = await write(Readable.from([bytes]))
    const ends: [number, number][] = [
      // The server of the tests takes an end of 0 for none.
      [0, store === 's3' ? 1 : 0],
      [objectPartBytes - 1, objectPartBytes],
      [objectPartBytes, 2 * objectPartBytes - 1],
      [5, 3 * objectPartBytes - 1],
    ]
    for (const [start, end] of ends) {
      const read = await buffer(readObject(platform.context, object, { start, end }))
      expect({ start, end, isSame: read.equals(bytes.subarray(start, end + 1)) }).toMatchObject({ isSame: true })
    }
  })

  test('is copied, and the copy outlives it', async () => {
    const bytes = randomBytes(40 * objectPartBytes + 7)
    const object = await write(Readable.from([bytes]))
    const copy = await copyObject(platform.context, object, botId)
    expect(copy).toEqual({ ...object, id: expect.not.stringContaining(object.id) })
    await removeObject(platform.context, object.id)
    expect(await findObject(platform.context.db, object.id)).toBeUndefined()
    expect(await stored(store)).not.toContain(object.id)
    expect(await stored(store)).toContain(copy.id)
    expect((await buffer(readObject(platform.context, copy))).equals(bytes)).toBe(true)
  })

  test('that is a refused copy of a request with an idempotency key leaves nothing', async () => {
    const as = { 'x-bot-id': botId }
    const { body } = await platform.ask('PUT', '/v1/files', { key: 'source.txt', size: 0 }, as)
    await fetch(body.file.uploadUrl, { method: 'PUT', body: 'content' })
    // All of them find the key free, and one gets it.
    const copies = Array.from({ length: 5 }, (_, index) =>
      platform.ask('POST', '/v1/files/source.txt/copy.txt', {}, { ...as, 'idempotency-key': `copy-${store}-${index}` }),
    )
    const statuses = (await Promise.all(copies)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 409)).toEqual([200])
    expect(await orphans(store)).toEqual([])
  })

  test('that is larger than its limit by a byte is refused there, and nothing of it stays', async () => {
    let taken = 0
    const ids = await stored(store)
    async function* endless() {
      for (;;) {
        taken += 1
        yield Buffer.alloc(objectPartBytes)
      }
    }
    await expect(write(endless(), 3 * objectPartBytes - 1)).rejects.toMatchObject({ type: 'LimitExceeded' })
    expect(taken).toBe(3)
    expect((await stored(store)).filter((id) => !ids.includes(id))).toEqual([])
    const exact = await write(Readable.from([Buffer.alloc(objectPartBytes)]), objectPartBytes)
    expect(exact.size).toBe(objectPartBytes)
    expect(await orphans(store)).toEqual([])
  })

  test('whose stream fails or is shorter than announced leaves nothing', async () => {
    const ids = await rows()
    await expect(write(failing())).rejects.toThrow('the client has gone')
    await expect(write(failing(), Infinity, 5 * objectPartBytes)).rejects.toThrow('the client has gone')
    await expect(write(Readable.from([Buffer.alloc(9)]), 10, 10)).rejects.toMatchObject({ type: 'InvalidPayload' })
    expect(await rows()).toEqual(ids)
    expect((await stored(store)).filter((id) => !ids.includes(id))).toEqual([])
  })

  test('that is removed before or while it is read ends the reading with an error, not with fewer bytes', async () => {
    const gone = await write(Readable.from([Buffer.alloc(8)]))
    await removeObject(platform.context, gone.id)
    await expect(buffer(readObject(platform.context, gone))).rejects.toThrow(/not found/)
    // A bucket goes on with the answer that it has begun.
    if (store === 's3') return
    const object = await write(Readable.from([Buffer.alloc(8 * objectPartBytes)]))
    const reading = readObject(platform.context, object)
    let read = 0
    await expect(async () => {
      for await (const chunk of reading) {
        if (read === 0) await removeObject(platform.context, object.id)
        read += (chunk as Buffer).length
      }
    }).rejects.toThrow(/not found/)
    expect(read).toBeLessThan(object.size)
  })

  test('whose row is removed while it is written leaves no bytes', async () => {
    const { db } = platform.context
    async function* content() {
      yield Buffer.alloc(2 * objectPartBytes)
      await db('file_objects').whereNull('completed_at').delete()
      for (let part = 0; part < 4; part += 1) yield Buffer.alloc(objectPartBytes)
    }
    await expect(write(content())).rejects.toThrow(/foreign key|not found/)
    expect(await orphans(store)).toEqual([])
  })

  test('stays when its bot is deleted, for the sweep to find', async () => {
    const { id } = await platform.createBot()
    const object = await writeObject(platform.context, id, Readable.from([Buffer.alloc(10)]), { limit: 10 })
    expect((await platform.ask('DELETE', `/v1/admin/bots/${id}`)).status).toBe(200)
    expect(await platform.context.db('file_objects').where({ id: object.id }).first()).toMatchObject({ bot_id: null })
  })
})

describe('a bucket', () => {
  beforeAll(async () => {
    platform = platforms.s3!
    botId = (await platform.createBot()).id
  })

  test('gets a content of known length in one request, any other in parts that it accepts, and no tags', async () => {
    s3.requests.length = 0
    await write(Readable.from([randomBytes(6_000_000)]), Infinity, 6_000_000)
    expect(s3.requests.map(({ method }) => method)).toEqual(['PUT'])
    const bytes = randomBytes(2 * s3PartBytes + 3)
    const object = await write(Readable.from([bytes]))
    expect(s3.requests.slice(1).map(({ method }) => method)).toEqual(['POST', 'PUT', 'PUT', 'PUT', 'POST'])
    expect((await buffer(readObject(platform.context, object))).equals(bytes)).toBe(true)
    expect(s3.requests.flatMap(({ headers }) => headers)).not.toContain('x-amz-tagging')
  })

  test('that fails makes writing fail, and removing wait for the sweep', async () => {
    const object = await write(Readable.from([Buffer.from('x')]))
    s3.failure = 503
    await expect(write(Readable.from([Buffer.from('y')]))).rejects.toMatchObject({ status: 503, retryAfterSeconds: 2 })
    await removeObject(platform.context, object.id)
    s3.failure = undefined
    expect(await s3.keys()).toContain(object.id)
    expect(await rows()).toContain(object.id)
    await removeObject(platform.context, object.id)
    expect(await s3.keys()).not.toContain(object.id)
    expect(await rows()).not.toContain(object.id)
  })

  test('that answers without a result has written nothing: writing and copying fail, and nothing stays', async () => {
    const object = await write(Readable.from([Buffer.from('x')]))
    const known = await rows()
    s3.instead = ({ method, url }, outgoing) => {
      if (method !== (url.searchParams.has('uploadId') ? 'POST' : 'PUT')) return false
      // As one whose answer has begun before its work has ended.
      outgoing.end('<?xml version="1.0" encoding="UTF-8"?>\n  ')
      return true
    }
    try {
      await expect(write(Readable.from([randomBytes(s3PartBytes + 1)]))).rejects.toThrow(/result of CompleteMultipart/)
      await expect(copyObject(platform.context, object, botId)).rejects.toThrow(/result of CopyObject/)
    } finally {
      s3.instead = undefined
    }
    expect(await rows()).toEqual(known)
    expect(await orphans('s3')).toEqual([])
    expect(await buffer(readObject(platform.context, object))).toEqual(Buffer.from('x'))
  })

  test('whose answer breaks off is unavailable, whether it has begun or not', async () => {
    const object = await write(Readable.from([Buffer.alloc(100_000)]))
    const breaks = [
      (outgoing: ServerResponse) => void outgoing.destroy(),
      (outgoing: ServerResponse) => {
        outgoing.writeHead(200, { 'content-length': '100000' }).write(Buffer.alloc(50_000), () => outgoing.destroy())
      },
    ]
    for (const breakOff of breaks) {
      s3.instead = (_request, outgoing) => {
        breakOff(outgoing)
        return true
      }
      try {
        await expect(buffer(readObject(platform.context, object))).rejects.toMatchObject({ status: 503 })
      } finally {
        s3.instead = undefined
      }
    }
  })

  test('that refuses with more text than anybody reads makes writing fail', async () => {
    s3.instead = (_request, outgoing) => {
      outgoing.writeHead(500)
      const more = () => void (outgoing.destroyed || outgoing.write(Buffer.alloc(65_536, 'x'), more))
      more()
      return true
    }
    try {
      await expect(write(Readable.from([Buffer.from('y')]))).rejects.toMatchObject({ status: 503 })
    } finally {
      s3.instead = undefined
    }
  })

  test('that refuses the signature makes writing fail', async () => {
    const s3 = { ...platform.context.config.s3!, secretAccessKey: 'wrong' }
    const context = { ...platform.context, config: { ...platform.context.config, s3 } }
    const writing = writeObject(context, botId, Readable.from([Buffer.from('x')]), { limit: 10 })
    await expect(writing).rejects.toThrow(/403 SignatureDoesNotMatch/)
  })

  test('is freed of the parts of an upload that a killed process has left', async () => {
    const { context } = platform
    const { promise: never } = Promise.withResolvers<void>()
    async function* stalled() {
      yield randomBytes(s3PartBytes)
      await never
    }
    write(stalled()).catch(() => {})
    await vi.waitFor(async () => expect(await s3.uploads()).toHaveLength(1), patience)
    const [id] = await s3.uploads()
    await removeObject(context, id!)
    expect(await s3.uploads()).toEqual([])
  })

  test('and PostgreSQL are read by the object’s own store, whichever is configured, and copies go to the configured one', async () => {
    const bytes = randomBytes(objectPartBytes + 1)
    const old = await writeObject(
      { ...platform.context, config: platforms.postgres!.context.config },
      botId,
      Readable.from([bytes]),
      { limit: Infinity },
    )
    expect(old.store).toBe('postgres')
    const copy = await copyObject(platform.context, old, botId)
    expect(copy).toMatchObject({ store: 's3', size: old.size, sha256: old.sha256 })
    await removeObject(platform.context, old.id)
    expect((await buffer(readObject(platform.context, copy))).equals(bytes)).toBe(true)
  })
})
