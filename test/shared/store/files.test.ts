import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { assertFileSize, assertQuota, completeUpload, findUpload } from '#shared/store/files.ts'
import type { FileRow } from '#shared/models/tables.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
let botId: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres', environment: { DATABASE_POOL: '8' } })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  botId = (await platform.createBot()).id
})

const limits = { maxFileBytes: 1000, maxFiles: 10, maxBytes: 2000 }

const insert = async (fields: Partial<Record<keyof FileRow, unknown>> = {}) => {
  const id = newId('file')
  await platform.context
    .db('files')
    .insert({ id, bot_id: botId, key: id, content_type: 'text/plain', ...fields } as object)
  return id
}

const find = (fileId: string, generation = 1) => findUpload(platform.context.db, fileId, generation, limits)

const complete = async (fileId: string, size: number, generation = 1) => {
  const { db } = platform.context
  const objectId = newId('object')
  await db('file_objects').insert({ id: objectId, bot_id: botId, store: 'postgres' })
  const upload = { fileId, generation, objectId, size, sha256: 'a'.repeat(64) }
  return db.transaction((transaction) => completeUpload(transaction, upload, limits))
}

const row = (id: string) => platform.context.db('files').where({ id }).first()
const usage = async () => {
  const found = await platform.context.db('file_usage').where({ bot_id: botId }).first()
  return { files: Number(found?.files), bytes: Number(found?.bytes) }
}

describe('the usage of a bot', () => {
  test('counts what is announced, then what has come, and nothing of a failed upload', async () => {
    const ids = [await insert({ declared_size: 300 }), await insert({ declared_size: 5 })]
    expect(await usage()).toEqual({ files: 2, bytes: 305 })
    await complete(ids[0]!, 200)
    expect(await usage()).toEqual({ files: 2, bytes: 205 })
    await platform.context.db('files').where({ id: ids[1]! }).update({ status: 'upload_failed' })
    expect(await usage()).toEqual({ files: 2, bytes: 200 })
  })

  test('falls with every deletion, that of a user who owns files too', async () => {
    const { db } = platform.context
    const userId = newId('user')
    await db('users').insert({ id: userId, bot_id: botId, tags: {}, properties: {} })
    await Promise.all([1, 2, 3].map(() => insert({ user_id: userId, declared_size: 100 })))
    const kept = await insert({ declared_size: 7 })
    await db('users').where({ id: userId }).delete()
    expect(await usage()).toEqual({ files: 1, bytes: 7 })
    expect(await row(kept)).toBeDefined()
  })

  test('goes with the bot', async () => {
    await insert({ declared_size: 100 })
    await platform.context.db('bots').where({ id: botId }).delete()
    expect(await usage()).toEqual({ files: NaN, bytes: NaN })
  })

  test('is never exceeded by concurrent inserts', async () => {
    const { db } = platform.context
    const attempts = Array.from({ length: 20 }, (_, index) =>
      db.transaction(async (transaction) => {
        const id = newId('file')
        await transaction('files').insert({
          id,
          bot_id: botId,
          key: String(index),
          content_type: '',
          declared_size: '300',
        })
        await assertQuota(transaction, botId, limits)
      }),
    )
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')
    expect(refused?.reason).toMatchObject({ type: 'QuotaExceeded', metadata: { setting: 'BOT_FILES_MB' } })
    expect(await usage()).toEqual({ files: 6, bytes: 1800 })
  })

  test('bounds the number of files and the size of one too, and says what raises the bound', async () => {
    for (let count = 0; count < 11; count += 1) await insert()
    await expect(assertQuota(platform.context.db, botId, limits)).rejects.toMatchObject({
      type: 'QuotaExceeded',
      message: expect.stringMatching(/10 files.*BOT_FILES/),
    })
    expect(() => assertFileSize(1000, limits)).not.toThrow()
    expect(() => assertFileSize(1001, limits)).toThrow(/1001 bytes.*FILE_MB/)
  })
})

describe('an upload', () => {
  test('may have what its bot has left, at most the bytes of one file', async () => {
    const id = await insert({ declared_size: 600 })
    expect(await find(id)).toEqual({ botId, allowance: 1000, isOpen: true })
    await insert({ declared_size: 1300 })
    expect(await find(id)).toEqual({ botId, allowance: 700, isOpen: true })
    await insert({ declared_size: 1300 })
    expect(await find(id)).toMatchObject({ allowance: 0 })
  })

  test('of a deleted or expired file has no target', async () => {
    expect(await find('file_none')).toBeUndefined()
    const id = await insert({ expires_at: new Date(Date.now() - 1000) })
    expect(await find(id)).toBeUndefined()
    expect(await complete(id, 1)).toBe('stale')
  })

  test.each([
    [false, 'upload_completed'],
    [true, 'indexing_pending'],
  ])('completes a file once; with index %s it is then %s', async (index, status) => {
    const id = await insert({ index })
    expect(await complete(id, 10)).toBe(index ? 'indexing' : 'completed')
    expect(await row(id)).toMatchObject({ status, size: '10', sha256: 'a'.repeat(64) })
    expect(await find(id)).toMatchObject({ isOpen: false })
    expect(await complete(id, 20)).toBe('stale')
  })

  test('for an older upsert changes nothing', async () => {
    const id = await insert({ generation: 2 })
    expect(await find(id, 1)).toMatchObject({ isOpen: false })
    expect(await complete(id, 10, 1)).toBe('stale')
    expect(await row(id)).toMatchObject({ status: 'upload_pending', object_id: null })
  })

  test('that is larger than announced counts in full, and is refused when the room is taken', async () => {
    const id = await insert({ declared_size: 0 })
    await insert({ declared_size: 1500 })
    await expect(complete(id, 501)).rejects.toMatchObject({ type: 'QuotaExceeded' })
    expect(await row(id)).toMatchObject({ status: 'upload_pending', size: null })
    expect(await complete(id, 500)).toBe('completed')
    expect(await usage()).toEqual({ files: 2, bytes: 2000 })
  })
})
