import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyObject, readObject, removeObject, writeObject } from '#shared/files/objects.ts'
import { objectPartBytes } from '#shared/files/postgres-object-store.ts'
import { findObject } from '#shared/store/file-objects.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
let botId: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres' })
  botId = (await platform.createBot()).id
})
afterAll(() => platform[Symbol.asyncDispose]())

const write = (content: AsyncIterable<Uint8Array>, limit = Infinity, length?: number) =>
  writeObject(platform.context, botId, content, { limit, length })
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const partsOf = (id: string) => platform.context.db('file_parts').where({ object_id: id }).count().first()

async function* failing() {
  yield Buffer.alloc(2 * objectPartBytes)
  throw new Error('the client has gone')
}

describe('an object', () => {
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
      [0, 0],
      [objectPartBytes - 1, objectPartBytes],
      [objectPartBytes, 2 * objectPartBytes - 1],
      [5, 3 * objectPartBytes - 1],
    ]
    for (const [start, end] of ends) {
      const read = await buffer(readObject(platform.context, object, { start, end }))
      expect(read.equals(bytes.subarray(start, end + 1)), `${start} to ${end}`).toBe(true)
    }
  })

  test('is copied, and the copy outlives it', async () => {
    const bytes = randomBytes(40 * objectPartBytes + 7)
    const object = await write(Readable.from([bytes]))
    const copy = await copyObject(platform.context, object, botId)
    expect(copy).toEqual({ ...object, id: expect.not.stringContaining(object.id) })
    await removeObject(platform.context, object.id)
    expect(await findObject(platform.context.db, object.id)).toBeUndefined()
    expect(await partsOf(object.id)).toEqual({ count: '0' })
    expect((await buffer(readObject(platform.context, copy))).equals(bytes)).toBe(true)
  })

  test('that is larger than its limit by a byte is refused there, and nothing of it stays', async () => {
    let taken = 0
    async function* endless() {
      for (;;) {
        taken += 1
        yield Buffer.alloc(objectPartBytes)
      }
    }
    await expect(write(endless(), 3 * objectPartBytes - 1)).rejects.toMatchObject({ type: 'LimitExceeded' })
    expect(taken).toBe(3)
    const exact = await write(Readable.from([Buffer.alloc(objectPartBytes)]), objectPartBytes)
    expect(exact.size).toBe(objectPartBytes)
    await removeObject(platform.context, exact.id)
    const { db } = platform.context
    expect(
      await db('file_parts').whereNotIn('object_id', db('file_objects').whereNotNull('completed_at').select('id')),
    ).toEqual([])
    expect(await db('file_objects').whereNull('completed_at')).toEqual([])
  })

  test('whose stream fails or is shorter than announced leaves nothing', async () => {
    await expect(write(failing())).rejects.toThrow('the client has gone')
    await expect(write(Readable.from([Buffer.alloc(9)]), 10, 10)).rejects.toMatchObject({ type: 'InvalidPayload' })
    expect(await platform.context.db('file_objects').whereNull('completed_at')).toEqual([])
  })

  test('that is removed while it is read ends the reading with an error, not with fewer bytes', async () => {
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

  test('that is removed while it is written ends the writing', async () => {
    const { db } = platform.context
    async function* content() {
      yield Buffer.alloc(2 * objectPartBytes)
      await db('file_objects').whereNull('completed_at').delete()
      for (let part = 0; part < 4; part += 1) yield Buffer.alloc(objectPartBytes)
    }
    await expect(write(content())).rejects.toThrow(/foreign key/)
    expect(await db('file_objects').whereNull('completed_at')).toEqual([])
  })

  test('stays when its bot is deleted, for the sweep to find', async () => {
    const { id } = await platform.createBot()
    const object = await writeObject(platform.context, id, Readable.from([Buffer.alloc(10)]), { limit: 10 })
    expect((await platform.ask('DELETE', `/v1/admin/bots/${id}`)).status).toBe(200)
    expect(await platform.context.db('file_objects').where({ id: object.id }).first()).toMatchObject({ bot_id: null })
  })
})
