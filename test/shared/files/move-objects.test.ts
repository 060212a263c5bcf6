import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { moveObjects } from '#shared/files/move-objects.ts'
import { readObject } from '#shared/files/objects.ts'
import type { StoreName } from '#shared/config/s3-settings.ts'
import { findObject } from '#shared/store/file-objects.ts'
import { openFileSweep } from '../../../worker/periodic/file-sweep.ts'
import { insertFile, type TestFile } from '../../api/files/fixture.ts'
import { openCommandLine } from '../../cli/command-line.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { startS3, type S3Server } from '../../support/s3.ts'

const parts = new AsyncDisposableStack()
let s3: S3Server
let platform: Platform
let botId: string
beforeAll(async () => {
  s3 = parts.use(await startS3())
  // The platform of an operator who is about to use a bucket: contents go to PostgreSQL until FILE_STORE is unset.
  const environment = { ...s3.environment, FILE_STORE: 'postgres' }
  platform = parts.use(await openPlatform({ worker: false, backEnd: 'postgres', environment }))
})
afterAll(() => parts.disposeAsync())
beforeEach(async () => {
  botId = (await platform.createBot()).id
  await db()('files').delete()
  await sweepLater()
})

const db = () => platform.context.db

interface Uploaded {
  file: TestFile
  bytes: Buffer
}

async function upload(size = 700_000): Promise<Uploaded> {
  const file = await insertFile(platform, botId)
  const bytes = randomBytes(size)
  expect((await fetch(file.uploadUrl, { method: 'PUT', body: bytes })).status).toBe(200)
  return { file, bytes }
}

async function isServed({ file, bytes }: Uploaded): Promise<boolean> {
  const response = await fetch(await file.url())
  return response.status === 200 && Buffer.from(await response.arrayBuffer()).equals(bytes)
}

/** The stores of the contents of files, in the order of the files. */
async function stores(files: Uploaded[]): Promise<(StoreName | undefined)[]> {
  const objects = files.map(async ({ file }) => findObject(db(), (await file.row())!.object_id!))
  return (await Promise.all(objects)).map((object) => object?.store)
}

/** Lets the sweep find that an hour is over. */
async function sweepLater(): Promise<void> {
  const earlier = new Date(Date.now() - 3_700_000)
  await db()('file_objects').update({ completed_at: earlier, created_at: earlier })
  await openFileSweep(platform.context).run()
}

test('every content is in the other store and served as before, and nothing is left in the former one', async () => {
  const files = [await upload(), await upload(0), await upload(6_000_000)]
  const addresses = await Promise.all(files.map(({ file }) => file.url()))
  const rows = await Promise.all(files.map(({ file }) => file.row()))
  expect(await moveObjects(platform.context, 's3')).toEqual({ moved: 3, bytes: 6_700_000, failures: [] })
  expect(await stores(files)).toEqual(['s3', 's3', 's3'])
  expect(await Promise.all(files.map(isServed))).toEqual([true, true, true])
  for (const address of addresses) expect((await fetch(address)).status).toBe(200)
  const changed = await Promise.all(files.map(({ file }) => file.row()))
  expect(changed.map((row) => ({ ...row, object_id: '' }))).toEqual(rows.map((row) => ({ ...row, object_id: '' })))
  await sweepLater()
  expect(await db()('file_parts')).toEqual([])

  expect(await moveObjects(platform.context, 'postgres')).toMatchObject({ moved: 3, failures: [] })
  expect(await Promise.all(files.map(isServed))).toEqual([true, true, true])
  await sweepLater()
  expect(await s3.keys()).toEqual([])
  expect(await stores(files)).toEqual(['postgres', 'postgres', 'postgres'])
  expect(await Promise.all(files.map(isServed))).toEqual([true, true, true])
})

test('a reader that has begun gets the whole content although it moves', async () => {
  const { file, bytes } = await upload(5_000_000)
  const object = (await findObject(db(), (await file.row())!.object_id!))!
  const chunks: Buffer[] = []
  for await (const chunk of readObject(platform.context, object)) {
    if (chunks.length === 0) {
      await moveObjects(platform.context, 's3')
      await openFileSweep(platform.context).run()
    }
    chunks.push(chunk as Buffer)
  }
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
})

test('a file that is deleted, or upserted and uploaded again, while its content moves is as it would be otherwise', async () => {
  const [deleted, replaced, kept] = [await upload(), await upload(), await upload()]
  const changes: Promise<unknown>[] = []
  const next = randomBytes(10)
  const former = s3.answered
  s3.answered = async ({ method }) => {
    if (method !== 'PUT' || changes.length > 0) return
    changes.push(db()('files').where({ id: deleted.file.id }).delete())
    const change = { generation: 1, status: 'upload_pending', object_id: null, size: null, sha256: null } as const
    changes.push(
      db()('files')
        .where({ id: replaced.file.id })
        .update(change)
        .then(async () => fetch(replaced.file.uploadUrl, { method: 'PUT', body: next })),
    )
    await Promise.all(changes)
  }
  try {
    expect(await moveObjects(platform.context, 's3')).toMatchObject({ moved: 1, failures: [] })
  } finally {
    s3.answered = former
  }
  expect(await isServed({ ...replaced, bytes: next })).toBe(true)
  expect(await isServed(kept)).toBe(true)
  await sweepLater()
  expect(await s3.keys()).toHaveLength(1)
  expect(await isServed({ ...replaced, bytes: next })).toBe(true)
  expect(await isServed(kept)).toBe(true)
})

test('a content whose bytes are lost stays, is named, and keeps no other from moving', async () => {
  const [damaged, whole] = [await upload(), await upload()]
  const { object_id: objectId } = (await damaged.file.row())!
  await db()('file_parts').where({ object_id: objectId!, part: 1 }).delete()
  const { moved, failures } = await moveObjects(platform.context, 's3')
  expect({ moved, failures }).toEqual({
    moved: 1,
    failures: [{ objectId, message: expect.stringMatching(/not found/) }],
  })
  expect(await isServed(whole)).toBe(true)
  expect(await db()('file_objects').where({ id: objectId! })).toHaveLength(1)
})

test(
  'the command that is killed at any place, and run again, moves all contents while they are served',
  { timeout: 60_000 },
  async () => {
    await using isobot = await openCommandLine()
    const files = await Promise.all(Array.from({ length: 12 }, () => upload()))
    const environment = { ...platform.environment }
    let puts = 0
    const { promise: reached, resolve } = Promise.withResolvers<void>()
    const { promise: never } = Promise.withResolvers<void>()
    s3.answered = async ({ method }) => {
      if (method === 'PUT') puts += 1
      if (puts !== 4) return
      resolve()
      await never
    }
    const killed = isobot.start(['files', 'move', 's3'], { environment })
    await reached
    killed.child.kill('SIGKILL')
    await killed.ended
    s3.answered = undefined
    expect(new Set(await stores(files))).toEqual(new Set(['s3', 'postgres']))
    expect(await Promise.all(files.map(isServed))).toEqual(files.map(() => true))

    const again = await isobot.run(['files', 'move', 's3', '--json'], { environment })
    expect(again).toMatchObject({ code: 0 })
    expect(JSON.parse(again.stdout)).toMatchObject({ store: 's3', moved: 9, failures: [], isInterrupted: false })
    expect(new Set(await stores(files))).toEqual(new Set(['s3']))
    await sweepLater()
    expect(await s3.keys()).toHaveLength(12)
    expect(await db()('file_objects')).toHaveLength(12)
    expect(await Promise.all(files.map(isServed))).toEqual(files.map(() => true))

    const { S3_BUCKET: _bucket, S3_ACCESS_KEY_ID: _id, S3_SECRET_ACCESS_KEY: _key, ...without } = environment
    const refused = await isobot.run(['files', 'move', 'postgres'], { environment: without })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Set S3_BUCKET') })
  },
)
