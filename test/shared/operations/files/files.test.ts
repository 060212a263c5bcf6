import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { clientNames, openClients, type BotWithClients, type Call } from '../runtime/clients.ts'

let platform: Platform
let bot: BotWithClients
let other: BotWithClients
beforeAll(async () => {
  platform = await openPlatform({ environment: { BOT_FILES: '400', WORKER_SWEEP_SECONDS: '600' } })
  bot = await openClients(platform)
  other = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const thirtyTags = (from: number) => Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`t${from + n}`, 'x']))
const put = (url: string, content: string) => fetch(url, { method: 'PUT', body: content })

describe.each(clientNames)('%s', (name) => {
  const call: Call = (...given) => bot.clients[name](...given)
  const theirs: Call = (...given) => other.clients[name](...given)
  const upsert = async (given: object = {}) =>
    (await call('upsertFile', { key: `${randomUUID()}.txt`, size: 5, ...given })).file
  const uploaded = async (given: object = {}) => {
    const file = await upsert(given)
    expect((await put(file.uploadUrl, 'hello')).status).toBe(200)
    return file
  }
  const list = async (given: object) => (await call('listFiles', given)).files.map(({ id }: { id: string }) => id)

  test('upsertFile describes a file that has no content yet, with all that is given', async () => {
    const given = {
      key: `docs/${randomUUID()}.md`,
      tags: { color: 'red', 'a.b': 'c' },
      metadata: { title: 'T', nested: { list: [1, null, 'x'] } },
      accessPolicies: ['integrations'],
      index: true,
      indexing: {
        configuration: { parsing: { mode: 'standard' }, vision: { transcribePages: 'all', indexPages: [1] } },
      },
      publicContentImmediatelyAccessible: true,
      expiresAt: new Date(Date.now() + 3600_000).toISOString(),
    }
    const { file } = await call('upsertFile', { ...given, size: 12 })
    const { indexing: _indexing, publicContentImmediatelyAccessible: _immediately, ...shown } = given
    expect(file).toEqual({
      ...shown,
      id: expect.stringMatching(/^file_[0-9A-Z]{26}$/),
      botId: bot.botId,
      url: expect.stringMatching(/\.md$/),
      uploadUrl: expect.stringContaining('/files/upload/'),
      size: null,
      contentType: 'text/markdown',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      status: 'upload_pending',
      owner: { type: 'bot', id: bot.botId },
    })
    const { uploadUrl: _uploadUrl, url: _url, ...rest } = file
    const got = (await call('getFile', { id: file.id })).file
    expect(got).toMatchObject(rest)
    expect(got).not.toHaveProperty('uploadUrl')
  })

  test('a content that is sent to the upload address is the file’s', async () => {
    const { id, key } = await uploaded()
    const { file } = await call('getFile', { id })
    expect(file).toMatchObject({ size: 5, status: 'upload_completed', contentType: 'text/plain' })
    expect(await (await fetch(file.url)).text()).toBe('hello')
    expect((await call('getFile', { id: key })).file.id).toBe(id)
  })

  test('upsertFile of the same key keeps the id, erases the content, and takes nothing else over', async () => {
    const first = await uploaded({ tags: { a: '1' }, metadata: { b: 2 }, accessPolicies: ['public_content'] })
    const { url } = (await call('getFile', { id: first.id })).file
    const second = await upsert({ key: first.key, contentType: 'image/png' })
    expect(second).toMatchObject({ id: first.id, createdAt: first.createdAt, status: 'upload_pending', size: null })
    expect(second).toMatchObject({ tags: {}, metadata: {}, accessPolicies: [], contentType: 'image/png', index: false })
    expect((await fetch(url)).status).toBe(404)
    expect((await put(first.uploadUrl, 'late')).status).toBe(409)
    expect((await put(second.uploadUrl, 'again')).status).toBe(200)
    const objects = await platform.context.db('file_objects').join('files', 'object_id', 'file_objects.id')
    expect(objects.filter(({ key }) => key === first.key)).toHaveLength(1)
  })

  test('a public file keeps its address over upserts, until its policy goes', async () => {
    const file = await uploaded({ accessPolicies: ['public_content'] })
    const { url } = (await call('getFile', { id: file.id })).file
    await uploaded({ key: file.key, accessPolicies: ['public_content'] })
    expect((await call('getFile', { id: file.id })).file.url).toBe(url)
    expect(await (await fetch(url)).text()).toBe('hello')
    await call('updateFileMetadata', { id: file.id, accessPolicies: [] })
    expect((await fetch(url)).status).toBe(404)
    const again = (await call('updateFileMetadata', { id: file.id, accessPolicies: ['public_content'] })).file
    expect(again.url).not.toBe(url)
    expect((await fetch(url)).status).toBe(404)
    expect((await fetch(again.url)).status).toBe(200)
  })

  test.each(['docs/a b/é?.pdf', '100%.txt', 'data_source://x:y/%2Fz', '/', '__proto__', 'a'.repeat(1024)])(
    'a file has the key %s',
    async (key) => {
      const { id } = await upsert({ key })
      expect((await call('getFile', { id: key })).file).toMatchObject({ id, key })
      expect((await call('updateFileMetadata', { id: key, tags: { t: 'v' } })).file).toMatchObject({
        id,
        tags: { t: 'v' },
      })
      expect(await call('deleteFile', { id: key })).toEqual({})
      await expect(call('getFile', { id })).rejects.toMatchObject({
        code: 404,
        message: expect.stringMatching(/not found/),
      })
    },
  )

  test.each(['.', '..', 'search', 'tags', 'knowledge-bases', '', 'a'.repeat(1025), 'nul\0'])(
    'no file has the key %j',
    async (key) => {
      await expect(upsert({ key })).rejects.toMatchObject({ code: 400, type: 'InvalidPayload' })
      const { id } = await upsert()
      if (key === '' || key === '.' || key === '..') return
      await platform.context.db('files').where({ id }).update({ object_id: null })
      await expect(call('copyFile', { idOrKey: id, destinationKey: key })).rejects.toMatchObject({ code: 400 })
    },
  )

  test.each([
    ['a size that is negative', { size: -1 }],
    ['a policy that is unknown', { accessPolicies: ['everybody'] }],
    ['a tag that is no text', { tags: { a: 1 } }],
    ['51 tags', { tags: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`t${n}`, 'x'])) }],
    ['a content type with a line break', { contentType: 'text/plain\r\nset-cookie: a=b' }],
    ['an expiry that is past', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['an expiry in more than 90 days', { expiresAt: new Date(Date.now() + 91 * 24 * 3600_000).toISOString() }],
    ['a paragraph of no length', { indexing: { configuration: { parsing: { minimumParagraphLength: 0 } } } }],
  ])('upsertFile refuses %s', async (_what, given) => {
    await expect(upsert(given)).rejects.toMatchObject({ code: 400, type: 'InvalidPayload' })
  })

  test('upsertFile names the figure and the setting of a quota', async () => {
    const refusal = { code: 403, type: 'QuotaExceeded' }
    const message = expect.stringMatching(/100 MB.*FILE_MB/)
    await expect(upsert({ size: 100 * 1024 * 1024 + 1 })).rejects.toMatchObject({ ...refusal, message })
    await expect(upsert({ size: 96 * 1024 * 1024, index: true })).rejects.toMatchObject({ type: 'LimitExceeded' })
  })

  test('updateFileMetadata changes what is named, and deletes what is null', async () => {
    const { id } = await uploaded({ tags: { a: '1', b: '2' }, metadata: { c: 3, d: { e: 4 } } })
    const expiresAt = new Date(Date.now() + 3600_000).toISOString()
    const changes = { tags: { a: null, c: '', __proto__x: 'p' }, metadata: { c: null, f: [5] }, expiresAt }
    const { file } = await call('updateFileMetadata', { id, ...changes })
    expect(file).toMatchObject({ status: 'upload_completed', size: 5, expiresAt })
    expect(file.tags).toEqual({ b: '2', c: '', __proto__x: 'p' })
    expect(file.metadata).toEqual({ d: { e: 4 }, f: [5] })
    expect((await call('updateFileMetadata', { id, expiresAt: null })).file).not.toHaveProperty('expiresAt')
  })

  test('updateFileMetadata refuses more tags and metadata than a file may have', async () => {
    const { id } = await upsert({ tags: thirtyTags(0) })
    await expect(call('updateFileMetadata', { id, tags: thirtyTags(30) })).rejects.toMatchObject({
      type: 'LimitExceeded',
    })
    const half = Array.from({ length: 20_000 }, () => Math.random())
    await call('updateFileMetadata', { id, metadata: { one: half.slice(0, 10_000) } })
    await expect(call('updateFileMetadata', { id, metadata: { two: half } })).rejects.toMatchObject({ code: 413 })
    expect((await call('getFile', { id })).file.tags).toEqual(thirtyTags(0))
  })

  test('deleteFile removes a file with its content', async () => {
    const { id } = await uploaded()
    const { url } = (await call('getFile', { id })).file
    const [row] = await platform.context.db('files').where({ id })
    expect(await call('deleteFile', { id })).toEqual({})
    expect((await fetch(url)).status).toBe(404)
    expect(await platform.context.db('file_parts').where({ object_id: row!.object_id! })).toEqual([])
    await expect(call('deleteFile', { id })).rejects.toMatchObject({ code: 404 })
  })

  test('listFiles finds files by every operator of the tag filter', async () => {
    const run = randomUUID()
    const files = [{ color: 'red', a: '1' }, { color: 'blue' }, { color: 'green', b: '' }, {}]
    const ids: string[] = []
    for (const tags of files) ids.push((await upsert({ tags: { ...tags, run } })).id)
    const found = async (tags: object) =>
      (await list({ tags: { run, ...tags } })).map((id: string) => ids.indexOf(id)).toSorted()
    expect(await found({})).toEqual([0, 1, 2, 3])
    expect(await found({ color: 'red' })).toEqual([0])
    expect(await found({ color: ['red', 'blue'] })).toEqual([0, 1])
    expect(await found({ color: { not: 'red' } })).toEqual([1, 2, 3])
    expect(await found({ color: { not: ['red', 'blue'] } })).toEqual([2, 3])
    expect(await found({ color: { in: ['green', 'red'] } })).toEqual([0, 2])
    expect(await found({ color: { exists: false } })).toEqual([3])
    expect(await found({ color: { exists: true, not: 'green' } })).toEqual([0, 1])
    expect(await found({ color: 'red', a: '2' })).toEqual([])
    expect(await found({ b: '' })).toEqual([2])
    expect(await found({ color: `'; drop table files; --` })).toEqual([])
  })

  test('listFiles sorts by each field, page by page', async () => {
    const run = randomUUID()
    const made: { id: string; key: string }[] = []
    for (const [index, key] of ['b', 'a', 'C', 'é', 'd'].entries()) {
      made.push(
        index % 2
          ? await upsert({ key: `${run}${key}`, tags: { run } })
          : await uploaded({ key: `${run}${key}`, tags: { run } }),
      )
    }
    await call('updateFileMetadata', { id: made[0]!.id, tags: { changed: 'yes' } })
    const pages = async (given: object) => {
      const ids: string[] = []
      for (let nextToken: string | undefined, first = true; first || nextToken; first = false) {
        const { files, meta } = await call('listFiles', {
          tags: { run },
          pageSize: 2,
          ...given,
          ...(nextToken && { nextToken }),
        })
        expect(files.length).toBeLessThanOrEqual(2)
        ids.push(...files.map(({ id }: { id: string }) => id))
        nextToken = meta.nextToken
      }
      return ids.map((id) => made.findIndex((file) => file.id === id))
    }
    expect(await pages({ sortField: 'key', sortDirection: 'asc' })).toEqual([2, 1, 0, 4, 3])
    expect(await pages({})).toEqual([4, 3, 2, 1, 0])
    expect(await pages({ sortField: 'createdAt', sortDirection: 'asc' })).toEqual([0, 1, 2, 3, 4])
    expect((await pages({ sortField: 'updatedAt' }))[0]).toBe(0)
    expect(await pages({ sortField: 'size' })).toEqual([4, 2, 0, 3, 1])
    expect(await pages({ sortField: 'status', sortDirection: 'asc' })).toEqual([0, 2, 4, 1, 3])
    const { meta } = await call('listFiles', { tags: { run }, pageSize: 2, sortField: 'key' })
    await expect(list({ sortField: 'size', nextToken: meta.nextToken })).rejects.toMatchObject({ type: 'InvalidQuery' })
    await expect(list({ nextToken: 'x' })).rejects.toMatchObject({ type: 'InvalidQuery' })
    const forged = Buffer.from('["size","1e999","x"]').toString('base64url')
    await expect(list({ sortField: 'size', nextToken: forged })).rejects.toMatchObject({ type: 'InvalidQuery' })
  })

  test('listFiles narrows to ids, and to files that are indexed', async () => {
    const ids = [(await upsert()).id, (await upsert()).id, (await upsert()).id]
    expect((await list({ ids: ids.slice(1) })).toSorted()).toEqual(ids.slice(1))
    expect(await list({ ids: [ids[0]!] })).toEqual([ids[0]])
    await platform.context.db('files').where({ id: ids[0]! }).update({ status: 'indexing_completed' })
    expect(await list({ ids, indexed: true })).toEqual([ids[0]])
    expect(await list({ ids, indexed: false })).toHaveLength(2)
    expect((await call('getFile', { id: ids[0] })).file).toMatchObject({ indexingStack: 'v2' })
    await expect(list({ ids: Array.from({ length: 51 }, () => 'file_x') })).rejects.toMatchObject({ code: 400 })
  })

  test('listFileTags and listFileTagValues have each name and value once, in order', async () => {
    const [tag, odd] = [`t-${randomUUID()}`, `u/${randomUUID()} é`]
    for (const value of ['b', '', 'a', 'b']) await upsert({ tags: { [tag]: value, [odd]: 'x' } })
    const names: string[] = []
    for (let nextToken: string | undefined, first = true; first || nextToken; first = false) {
      const page = await call('listFileTags', { pageSize: 3, ...(nextToken && { nextToken }) })
      names.push(...page.tags)
      nextToken = page.meta.nextToken
    }
    expect(names).toEqual([...new Set(names)].toSorted())
    expect(names).toEqual(expect.arrayContaining([tag, odd]))
    const first = await call('listFileTagValues', { tag, pageSize: 2 })
    expect(first.values).toEqual(['', 'a'])
    expect(await call('listFileTagValues', { tag, nextToken: first.meta.nextToken })).toEqual({
      values: ['b'],
      meta: {},
    })
    expect((await call('listFileTagValues', { tag: odd })).values).toEqual(['x'])
    expect((await call('listFileTagValues', { tag: 'absent' })).values).toEqual([])
  })

  test('copyFile copies the content with what is known of it', async () => {
    const source = await uploaded({ tags: { a: '1' }, metadata: { b: 2 }, contentType: 'text/x-own' })
    const [destinationKey, idOrKey] = [`copy/${randomUUID()} é`, source.id]
    const { file } = await call('copyFile', { idOrKey, destinationKey })
    expect(file).toMatchObject({
      key: destinationKey,
      tags: { a: '1' },
      metadata: { b: 2 },
      size: 5,
      contentType: 'text/x-own',
    })
    expect(file).toMatchObject({ status: 'upload_completed' })
    expect(file.id).not.toBe(source.id)
    await call('deleteFile', { id: source.id })
    expect(await (await fetch(file.url)).text()).toBe('hello')
  })

  test('copyFile has the copy indexed without waiting for the sweep', async () => {
    const source = await uploaded({ index: true })
    const { file } = await call('copyFile', { idOrKey: source.id, destinationKey: randomUUID() })
    const status = async () => (await call('getFile', { id: file.id })).file.status
    // A busy machine takes seconds to start the process that reads documents; the sweep comes far later.
    await expect.poll(status, { timeout: 45_000 }).toBe('indexing_completed')
  })

  test('copyFile replaces a file only with overwrite, also the source itself', async () => {
    const [source, target] = [await uploaded(), await uploaded()]
    const copy = { idOrKey: source.key, destinationKey: target.key }
    await expect(call('copyFile', copy)).rejects.toMatchObject({ code: 409, type: 'AlreadyExists' })
    expect((await call('copyFile', { ...copy, overwrite: true })).file.id).toBe(target.id)
    const itself = { idOrKey: source.id, destinationKey: source.key, overwrite: true }
    const { file } = await call('copyFile', itself)
    expect(file.id).toBe(source.id)
    expect(await (await fetch(file.url)).text()).toBe('hello')
    const empty = await upsert()
    const refused = call('copyFile', { idOrKey: empty.id, destinationKey: 'x' })
    await expect(refused).rejects.toMatchObject({ code: 409, message: expect.stringMatching(/no content/) })
    const { db } = platform.context
    const referred = db('files').where({ bot_id: bot.botId }).whereNotNull('object_id').select('object_id')
    expect(await db('file_objects').where({ bot_id: bot.botId }).whereNotIn('id', referred)).toEqual([])
  })

  test('of an indexed file, the content and the copy wait to be indexed', async () => {
    const { id } = await uploaded({ index: true })
    expect((await call('getFile', { id })).file.status).toBe('indexing_pending')
    const { file } = await call('copyFile', { idOrKey: id, destinationKey: randomUUID() })
    expect(file).toMatchObject({ status: 'indexing_pending', index: true })
  })

  test('a file that has expired is not there, and its key is free', async () => {
    const file = await uploaded({ tags: { run: 'expired' } })
    const before = new Date(Date.now() - 1000)
    await platform.context.db('files').where({ id: file.id }).update({ expires_at: before })
    await expect(call('getFile', { id: file.key })).rejects.toMatchObject({ code: 404 })
    expect(await list({ tags: { run: 'expired' } })).toEqual([])
    const source = await uploaded()
    expect((await call('copyFile', { idOrKey: source.id, destinationKey: file.key })).file.size).toBe(5)
  })

  test('knowledge bases are created, renamed, listed and deleted, with one name each', async () => {
    const [name, run] = [randomUUID(), randomUUID()]
    const { knowledgeBase: base } = await call('createKnowledgeBase', { name, tags: { run, a: '1' } })
    expect(base).toEqual({ id: expect.stringMatching(/^kb_/), name, tags: { run, a: '1' } })
    await expect(call('createKnowledgeBase', { name })).rejects.toMatchObject({ code: 409, type: 'AlreadyExists' })
    const { knowledgeBase: second } = await call('createKnowledgeBase', { name: `${name}-2`, tags: { run } })
    await expect(call('updateKnowledgeBase', { id: second.id, name })).rejects.toMatchObject({ code: 409 })
    const renamed = { id: base.id, name: `${name}-3`, tags: { a: null, b: '2' } }
    expect((await call('updateKnowledgeBase', renamed)).knowledgeBase).toEqual({ ...renamed, tags: { run, b: '2' } })
    const listed = async (given: object) =>
      (await call('listKnowledgeBases', { tags: { run }, ...given })).knowledgeBases.map(
        (one: { id: string }) => one.id,
      )
    expect(await listed({})).toEqual([second.id, base.id])
    expect(await listed({ tags: { run, b: { exists: true } } })).toEqual([base.id])
    const page = await call('listKnowledgeBases', { tags: { run }, pageSize: 1 })
    expect(page.knowledgeBases[0]).toEqual({ ...second, createdAt: expect.any(String) })
    expect(await listed({ nextToken: page.meta.nextToken })).toEqual([base.id])
    const { id: fileId } = await upsert({ tags: { source: 'knowledge-base', kbId: base.id } })
    expect(await call('deleteKnowledgeBase', { id: base.id })).toEqual({})
    expect((await call('getFile', { id: fileId })).file.tags.kbId).toBe(base.id)
    await expect(call('deleteKnowledgeBase', { id: base.id })).rejects.toMatchObject({ code: 404 })
  })

  test('another bot’s files and knowledge bases do not exist', async () => {
    const { file } = await theirs('upsertFile', {
      key: `theirs-${randomUUID()}`,
      size: 1,
      tags: { theirs: 'x' },
      accessPolicies: ['public_content', 'integrations'],
    })
    await put(file.uploadUrl, 'x')
    const { knowledgeBase } = await theirs('createKnowledgeBase', { name: randomUUID() })
    const missing = { code: 404, message: expect.stringMatching(/not found/) }
    for (const id of [file.id, file.key]) {
      await expect(call('getFile', { id })).rejects.toMatchObject(missing)
      await expect(call('updateFileMetadata', { id, tags: {} })).rejects.toMatchObject(missing)
      await expect(call('deleteFile', { id })).rejects.toMatchObject(missing)
      await expect(call('copyFile', { idOrKey: id, destinationKey: 'mine' })).rejects.toMatchObject(missing)
    }
    await expect(call('updateKnowledgeBase', { id: knowledgeBase.id, name: 'x' })).rejects.toMatchObject(missing)
    await expect(call('deleteKnowledgeBase', { id: knowledgeBase.id })).rejects.toMatchObject(missing)
    expect(await list({ ids: [file.id] })).toEqual([])
    expect(await list({ tags: { theirs: 'x' } })).toEqual([])
    expect((await call('listFileTags', { pageSize: 100 })).tags).not.toContain('theirs')
    expect((await call('listFileTagValues', { tag: 'theirs' })).values).toEqual([])
    const mine = await upsert({ key: file.key })
    expect(mine.id).not.toBe(file.id)
  })
})

test('upsertFile takes no field that it does not know, and a filter no such operator', async () => {
  const headers = { 'x-bot-id': bot.botId }
  const given = { key: 'a', size: 1, colour: 'red' }
  const unknown = { status: 400, body: { message: expect.stringMatching(/'colour'/) } }
  expect(await platform.ask('PUT', '/v1/files', given, headers)).toMatchObject(unknown)
  const fromCode = bot.clients['the client of bot code']
  await expect(fromCode('upsertFile', given)).rejects.toMatchObject({ code: 400 })
  const filter = fromCode('listFiles', { tags: { color: { like: 'r' } } })
  await expect(filter).rejects.toMatchObject({ code: 400, type: 'InvalidQuery' })
  const query = '/v1/files?tags[color][like]=r'
  expect(await platform.ask('GET', query, undefined, headers)).toMatchObject({ status: 400 })
})

test('a description of more than 1 MB is refused', async () => {
  const metadata = { text: 'x'.repeat(1024 * 1024) }
  const answer = await platform.ask('PUT', '/v1/files', { key: 'a', size: 1, metadata }, { 'x-bot-id': bot.botId })
  expect(answer).toMatchObject({
    status: 413,
    body: { type: 'PayloadTooLarge', message: expect.stringMatching(/1 MB/) },
  })
})

test('no more files than the quota allows come from concurrent upserts of many keys', async () => {
  const { botId } = await openClients(platform)
  await platform.context.db('files').insert(
    Array.from({ length: 395 }, (_, n) => ({
      id: `file_${botId}_${n}`,
      bot_id: botId,
      key: String(n),
      content_type: '',
    })),
  )
  const ask = (key: string) => platform.ask('PUT', '/v1/files', { key, size: 1 }, { 'x-bot-id': botId })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(`more-${n}`)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  const refused = answers.find(({ status }) => status !== 200)
  expect(refused).toMatchObject({
    status: 403,
    body: { type: 'QuotaExceeded', message: expect.stringMatching(/400 files.*BOT_FILES/) },
  })
})

test('concurrent upserts of one key end in one file, whose newest address alone is good', async () => {
  const { botId } = bot
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      platform.ask('PUT', '/v1/files', { key: 'contended', size: 1 }, { 'x-bot-id': botId }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(new Set(answers.map(({ body }) => body.file.id)).size).toBe(1)
  const statuses = await Promise.all(answers.map(async ({ body }) => (await put(body.file.uploadUrl, 'x')).status))
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
})
