import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { writeObject } from '#shared/files/objects.ts'
import { insertObject, insertPart } from '#shared/store/file-objects.ts'
import { openFileSweep } from '../../../worker/periodic/file-sweep.ts'
import { insertFile } from '../../api/files/fixture.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
let botId: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres' })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  await db()('files').delete()
  await db()('file_objects').delete()
  botId = (await platform.createBot()).id
})

const db = () => platform.context.db
const ago = (hours: number) => new Date(Date.now() - hours * 3600 * 1000)
const objects = async () => (await db()('file_objects').orderBy('id')).map(({ id }) => id)
const sweep = () => openFileSweep(platform.context).run()

/** An object whose writing began so many hours ago, and ended then or not at all. */
async function write(hours: number, isComplete = true): Promise<string> {
  const { id } = await writeObject(platform.context, botId, Readable.from([Buffer.from('content')]), { limit: 10 })
  const at = ago(hours)
  await db()('file_objects')
    .where({ id })
    .update({ created_at: at, completed_at: isComplete ? at : null })
  return id
}

async function upload(): Promise<{ id: string; objectId: string }> {
  const file = await insertFile(platform, botId)
  expect((await fetch(file.uploadUrl, { method: 'PUT', body: 'content' })).status).toBe(200)
  return { id: file.id, objectId: (await file.row())!.object_id! }
}

test('contents that no file refers to are removed an hour after they are complete, and not those of files', async () => {
  const { objectId } = await upload()
  await db()('file_objects')
    .where({ id: objectId })
    .update({ created_at: ago(99), completed_at: ago(99) })
  const fresh = await write(0.9)
  await write(1.1)
  await sweep()
  expect(await objects()).toEqual([objectId, fresh].toSorted())
  expect(await db()('file_parts').whereNotIn('object_id', [objectId, fresh])).toEqual([])
})

test('the remains of a killed process are removed when no upload can last so long, and no upload in progress', async () => {
  const inProgress = await write(2.1, false)
  await write(3.1, false)
  await insertObject(db(), { id: 'object_left', botId, store: 'postgres' })
  await insertPart(db(), 'object_left', 0, Buffer.from('half'))
  await db()('file_objects')
    .where({ id: 'object_left' })
    .update({ created_at: ago(4) })
  await sweep()
  expect(await objects()).toEqual([inProgress])
})

test('the contents of deleted files and bots are removed', async () => {
  const one = await upload()
  const other = await upload()
  await db()('file_objects').update({ created_at: ago(2), completed_at: ago(2) })
  await db()('files').where({ id: one.id }).delete()
  await sweep()
  expect(await objects()).toEqual([other.objectId])
  expect((await platform.ask('DELETE', `/v1/admin/bots/${botId}`)).status).toBe(200)
  await sweep()
  expect(await objects()).toEqual([])
})

test('an expired file is deleted with its content, one that expires later is not', async () => {
  const expired = await upload()
  const later = await upload()
  await db()('files')
    .where({ id: expired.id })
    .update({ expires_at: ago(0.001) })
  await db()('files')
    .where({ id: later.id })
    .update({ expires_at: ago(-1) })
  await sweep()
  expect(await db()('files').pluck('id')).toEqual([later.id])
  expect(await objects()).toEqual([later.objectId])
})

test('an upload that has not come within a day fails, with its reason', async () => {
  const late = await insertFile(platform, botId)
  const waiting = await insertFile(platform, botId)
  await db()('files')
    .where({ id: late.id })
    .update({ requested_at: ago(24.1) })
  await db()('files')
    .where({ id: waiting.id })
    .update({ requested_at: ago(23.9) })
  await sweep()
  expect(await late.row()).toMatchObject({
    status: 'upload_failed',
    failed_status_reason: expect.stringContaining('day'),
  })
  expect(await waiting.row()).toMatchObject({ status: 'upload_pending', failed_status_reason: null })
  expect((await fetch(late.uploadUrl, { method: 'PUT', body: 'x' })).status).toBe(409)
})

test('one run goes through all objects in batches, and the next one begins again', async () => {
  const kept = await Promise.all([1, 2, 3, 4, 5].map(() => write(0.5)))
  const doomed = await Promise.all([1, 2, 3, 4, 5].map(() => write(1.5)))
  const small = openFileSweep(platform.context, 2)
  await small.run()
  expect(await objects()).toEqual(kept.toSorted())
  expect(doomed).toHaveLength(5)
  await db()('file_objects').update({ completed_at: ago(2) })
  await small.run()
  expect(await objects()).toEqual([])
})
