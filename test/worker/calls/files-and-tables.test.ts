import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleSdk } from '../../sdk/bundle.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { installCode } from '../../support/install-code.ts'
import { replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { operationsOfClient } from './client-operations.ts'

// Answers are compared field by field; their types are the client's business.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any
type Call = (operation: string, input?: object) => Promise<Answer>

let platform: Platform
let code: string
let operations: string[]
beforeAll(async () => {
  const parts = [openPlatform(), bundleSdk('files-bot.ts'), operationsOfClient(/^\/v1\/(files|tables)\b/)] as const
  ;[platform, code, operations] = await Promise.all(parts)
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A bot, and how the published client calls the platform as that bot. */
async function openCaller(place: 'over HTTP' | 'in an isolate'): Promise<{ botId: string; call: Call }> {
  const { id: botId } = await platform.createBot(code)
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId })
  if (place === 'over HTTP') {
    const methods = client as unknown as Record<string, Call>
    return {
      botId,
      call: async (operation, input = {}) => (methods[operation] as unknown as (given: object) => Answer)(input),
    }
  }
  const call: Call = async (operation, given = {}) => {
    const { output } = await client.callAction({ type: 'call', input: { operation, given } })
    if (output['refusal']) throw Object.assign(new Error('The platform refused the call'), output['refusal'])
    return output['answer']
  }
  return { botId, call }
}

test('the client has the operations that this file knows of', () => {
  expect(operations).toHaveLength(32)
})

describe.each(['over HTTP', 'in an isolate'] as const)('the published client %s', (place) => {
  const done = new Set<string>()
  let call: Call
  beforeAll(async () => {
    const caller = await openCaller(place)
    call = (operation, input) => {
      done.add(operation)
      return caller.call(operation, input)
    }
  })

  test('does all operations of files and knowledge bases', { timeout: 60_000 }, async () => {
    const key = 'docs/a b/é?.md'
    const content = '# Hours\n\nThe shop is open on weekdays.\n\n# Returns\n\nWe take back all goods for a month.\n'
    const upserted = await call('upsertFile', { key: 'later.txt', size: 5, metadata: { title: 'Later' } })
    expect(upserted.file).toMatchObject({ key: 'later.txt', status: 'upload_pending', uploadUrl: expect.any(String) })
    const { file } = await call('uploadFile', { key, content, index: true, tags: { topic: 'shop', old: 'x' } })
    expect(file).toMatchObject({ key, size: Buffer.byteLength(content), contentType: 'text/markdown' })
    const indexed = async (id = file.id) => (await call('getFile', { id })).file.status
    await expect.poll(() => indexed(), { timeout: 30_000 }).toBe('indexing_completed')

    const listed = await call('listFiles', {
      tags: { topic: ['shop', 'other'], gone: { exists: false } },
      indexed: true,
    })
    expect(listed).toEqual({ files: [expect.objectContaining({ id: file.id })], meta: {} })
    const change = { id: key, tags: { old: null, new: 'y' }, metadata: { page: 3 }, accessPolicies: ['public_content'] }
    const updated = (await call('updateFileMetadata', change)).file
    expect(updated).toMatchObject({ id: file.id, tags: { topic: 'shop', new: 'y' }, metadata: { page: 3 } })
    expect(await (await fetch(updated.url)).text()).toBe(content)
    expect(await call('listFileTags')).toEqual({ tags: ['new', 'topic'], meta: {} })
    expect(await call('listFileTagValues', { tag: 'topic' })).toEqual({ values: ['shop'], meta: {} })

    const question = { query: 'When is the shop open?', contextDepth: 0, includeBreadcrumb: true, withContext: true }
    const { passages } = await call('searchFiles', { ...question, tags: { topic: 'shop' }, limit: 1 })
    expect(passages).toEqual([
      expect.objectContaining({ score: expect.any(Number), file: expect.objectContaining({ id: file.id, key }) }),
    ])
    expect(passages[0].content).toContain('The shop is open on weekdays.')
    expect(passages[0].context).toContainEqual(expect.objectContaining({ type: 'breadcrumb', text: 'Hours' }))
    const all = await call('listFilePassages', { id: file.id, limit: 50 })
    expect(all.passages.length).toBeGreaterThan(1)
    const given = [{ content: 'We are closed.', type: 'paragraph', pageNumber: 4 }]
    expect(await call('setFilePassages', { id: file.id, passages: given })).toEqual({})
    await expect.poll(() => indexed(), { timeout: 30_000 }).toBe('indexing_completed')
    const replaced = await call('listFilePassages', { id: file.id })
    expect(replaced.passages).toMatchObject([{ content: 'We are closed.', meta: { pageNumber: 4 } }])

    const copied = (await call('copyFile', { idOrKey: key, destinationKey: 'copy of/é.md' })).file
    expect(copied).toMatchObject({ key: 'copy of/é.md', size: file.size, tags: updated.tags })
    expect(await call('deleteFile', { id: 'copy of/é.md' })).toEqual({})
    await expect(call('getFile', { id: copied.id })).rejects.toMatchObject({ code: 404, type: 'ResourceNotFound' })

    const { knowledgeBase } = await call('createKnowledgeBase', { name: 'Shop', tags: { language: 'en' } })
    const { id } = knowledgeBase
    const renamed = await call('updateKnowledgeBase', { id, name: 'The shop', tags: { language: null } })
    expect(renamed).toEqual({ knowledgeBase: { id, name: 'The shop', tags: {} } })
    const { knowledgeBases } = await call('listKnowledgeBases')
    expect(knowledgeBases).toEqual([{ id, name: 'The shop', tags: {}, createdAt: expect.any(String) }])
    expect(await call('deleteKnowledgeBase', { id })).toEqual({})
    expect((await call('listKnowledgeBases')).knowledgeBases).toEqual([])
  })

  test('does all operations of tables', async () => {
    const schema = {
      name: { type: 'string' },
      age: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
    }
    const { table } = await call('createTable', { name: 'peopleTable', schema, keyColumn: 'name', tags: { kind: 'a' } })
    expect(table).toMatchObject({
      name: 'peopleTable',
      keyColumn: 'name',
      schema: { properties: { age: { type: 'number' } } },
    })
    const existing = await call('getOrCreateTable', { table: 'peopleTable', schema })
    expect(existing).toMatchObject({ created: false, table: { id: table.id }, rows: 0 })
    expect((await call('listTables', { tags: { kind: 'a' } })).tables.map(({ id }: Answer) => id)).toEqual([table.id])

    const rows = [
      { name: 'Ann', age: 30, tags: ['a', 'b'] },
      { name: 'Bob', age: 40 },
    ]
    const created = await call('createTableRows', { table: 'peopleTable', rows })
    expect(created.rows).toMatchObject([
      { id: 1, ...rows[0] },
      { id: 2, ...rows[1], tags: null },
    ])
    expect((await call('getTableRow', { table: table.id, id: 2 })).row).toMatchObject({ name: 'Bob', computed: {} })
    const upserted = await call('upsertTableRows', {
      table: 'peopleTable',
      keyColumn: 'name',
      rows: [
        { name: 'Bob', age: 41 },
        { name: 'Eve', age: 50 },
      ],
    })
    expect(upserted).toMatchObject({ inserted: [{ name: 'Eve' }], updated: [{ id: 2, age: 41 }] })
    const changed = await call('updateTableRows', {
      table: 'peopleTable',
      rows: [
        { id: 1, age: 31 },
        { id: 9, age: 1 },
      ],
    })
    expect(changed).toMatchObject({ rows: [{ id: 1, name: 'Ann', age: 31 }], errors: [expect.any(String)] })
    const filter = { $or: [{ age: { $gte: 50 } }, { tags: { $in: ['b'] } }] }
    const found = await call('findTableRows', { table: 'peopleTable', filter, orderBy: 'age', orderDirection: 'desc' })
    expect(found).toMatchObject({ rows: [{ name: 'Eve' }, { name: 'Ann' }], hasMore: false, limit: 100, offset: 0 })
    const group = { age: ['sum', 'max'] }
    expect((await call('findTableRows', { table: 'peopleTable', group })).rows).toEqual([{ ageSum: 122, ageMax: 50 }])

    const { job: exporting } = await call('exportTable', { table: 'peopleTable', format: 'json' })
    const jobs = async (table: string) => (await call('getTableJobs', { table })).jobs
    await expect.poll(() => jobs('peopleTable'), { timeout: 30_000 }).toMatchObject([{ status: 'completed' }])
    const [{ outputFileId }] = await jobs('peopleTable')
    expect(exporting).toMatchObject({ type: 'export', status: 'pending', tableId: table.id, outputFileId: null })
    await call('createTable', { name: 'importedTable', schema })
    await call('importTable', { table: 'importedTable', fileId: outputFileId })
    await expect.poll(() => jobs('importedTable'), { timeout: 30_000 }).toMatchObject([{ status: 'completed' }])
    expect((await call('findTableRows', { table: 'importedTable' })).rows).toMatchObject([
      { name: 'Ann', age: 31, tags: ['a', 'b'] },
      { name: 'Bob', age: 41 },
      { name: 'Eve', age: 50 },
    ])
    await call('deleteTable', { table: 'importedTable' })

    await call('renameTableColumn', { table: 'peopleTable', name: 'age', newName: 'years' })
    const altered = await call('updateTable', { table: 'peopleTable', name: 'humansTable', schema: { tags: null } })
    expect(Object.keys(altered.table.schema.properties)).toEqual(['name', 'years'])
    const copy = await call('duplicateTable', { sourceTableId: table.id, tableName: 'copyTable' })
    expect(copy).toMatchObject({ table: { name: 'copyTable' }, rows: 3 })
    const deletion = { table: 'copyTable', filter: { years: { $gt: 40 } } }
    expect(await call('deleteTableRows', deletion)).toMatchObject({ deletedRows: 2 })
    expect(await call('getTable', { table: 'copyTable' })).toMatchObject({ rows: 1, stale: 0, indexing: 0 })
    for (const name of ['copyTable', 'humansTable']) expect(await call('deleteTable', { table: name })).toEqual({})
    expect((await call('listTables')).tables).toEqual([])
    await expect(call('getTable', { table: 'copyTable' })).rejects.toMatchObject({
      code: 404,
      type: 'ResourceNotFound',
    })
  })

  test('has done every operation that it has', () => {
    expect([...done].filter((name) => name !== 'uploadFile').toSorted()).toEqual(operations)
  })
})

/** One line of a queue, as a plugin writes it. */
const lines = (status: string) => `${JSON.stringify({ id: '1', absolutePath: '/a b/é.pdf', status })}\n`

const tagsOf = (n: number) => ({
  integrationAlias: 'share',
  externalPath: `/${n % 2 === 0 ? 'in' : 'out'}/${n}.txt`,
})

const item = (n: number) => ({
  _id: String(n),
  title: `T${n}`,
  size: n,
  isDone: false,
  labels: ['a'],
  by: { name: 'Ann' },
})

describe('the requests of public plugins and integrations', () => {
  const definition = {
    actions: {
      transferFileToBotpress: { input: { schema: {} }, output: { schema: {} } },
      streamFileToBotpress: { input: { schema: {} }, output: { schema: {} } },
      fillTable: { input: { schema: {} }, output: { schema: {} } },
    },
  }
  let botId: string
  let call: Call
  beforeAll(async () => {
    const caller = await openCaller('in an isolate')
    botId = caller.botId
    call = caller.call
    const installed = await installCode(platform, botId, await bundleSdk('files-integration.ts'), {
      alias: 'drive',
      definition,
    })
    if (installed.status !== 'registered') throw new Error(String(installed.statusReason))
  })
  const read = async (url: string) => (await call('callAction', { type: 'read', input: { url } })).output
  const transfer = async (type: string, input: object): Promise<{ botpressFileId: string; ok?: boolean }> =>
    (await call('callAction', { type: `drive:${type}`, input })).output

  const listAll = async () => {
    const found: { id: string; tags: Record<string, string> }[] = []
    let nextToken: string | undefined
    do {
      const answer = await call('listFiles', { tags: { integrationAlias: 'share' }, nextToken })
      found.push(...answer.files)
      nextToken = answer.meta?.nextToken
    } while (nextToken !== undefined)
    return found
  }

  test('that keep a queue of files in a file are answered, also where it is written again', async () => {
    const key = 'file-synchronizer/drive/2026-11-23T01:00:00.000Z.jsonl'
    const tags = { integrationName: 'tool', integrationInstanceAlias: 'drive', syncJobId: '1', syncInitiatedAt: 'now' }
    const queue = (await call('uploadFile', { key, content: lines('pending'), tags })).file
    const first = (await call('getFile', { id: queue.id })).file
    expect(first).toMatchObject({ key, tags })
    expect(await read(first.url)).toEqual({ status: 200, text: lines('pending') })
    const again = (await call('uploadFile', { key, content: lines('newly-synced') })).file
    expect(again.id).toBe(queue.id)
    const second = (await call('getFile', { id: queue.id })).file
    expect(await read(second.url)).toEqual({ status: 200, text: lines('newly-synced') })
    await call('deleteFile', { id: queue.id })
  })

  test('that fill a table of the bot with the rows of a service find it again', async () => {
    const rows = [
      { product: 'pump', stock: 3 },
      { product: 'valve', stock: 1 },
    ]
    const fill = async () =>
      (await call('callAction', { type: 'drive:fillTable', input: { table: 'productsTable', rows } })).output
    expect(await fill()).toEqual({ created: true, products: ['pump'] })
    expect(await fill()).toEqual({ created: false, products: ['pump'] })
    expect((await call('findTableRows', { table: 'productsTable' })).rows).toMatchObject(rows)
  })

  test('that bring files of an integration into a knowledge base are answered', { timeout: 60_000 }, async () => {
    const origin = { externalId: 'ext/1', integrationName: 'tool', integrationAlias: 'drive' }
    expect((await call('listFiles', { tags: origin })).files).toEqual([])
    const file = { fileKey: 'drive:/manuals/pump 1.md', shouldIndex: true }
    const { botpressFileId: id } = await transfer('transferFileToBotpress', {
      ...file,
      content: 'Oil the pump in May.',
    })
    const unknown = { externalModifiedDate: null, externalSize: null, externalParentId: null }
    const kb = { kbId: 'kb_1', source: 'knowledge-base', title: 'pump 1.md', modalities: '["text"]' }
    const tags = { ...origin, externalContentHash: 'h1', externalPath: '/manuals/pump 1.md', ...kb }
    expect((await call('updateFileMetadata', { id, tags: { ...tags, ...unknown } })).file.tags).toEqual(tags)
    const [found] = (await call('listFiles', { tags: origin })).files
    expect(found).toMatchObject({ id, tags, owner: { type: 'integration', alias: 'drive' } })

    await call('deleteFile', { id: found.id })
    const next = await transfer('transferFileToBotpress', { ...file, content: 'Oil the pump every June.' })
    expect(next.botpressFileId).not.toBe(id)
    await call('updateFileMetadata', { id: next.botpressFileId, tags: { ...tags, externalContentHash: 'h2' } })
    const search = async () => (await call('searchFiles', { query: 'When do I oil the pump?' })).passages
    await expect.poll(async () => (await search()).length, { timeout: 30_000 }).toBe(1)
    expect((await search()).map(({ content }: Answer) => content).join('\n')).toBe('Oil the pump every June.')

    const streamed = await transfer('streamFileToBotpress', {
      fileKey: 'drive:/manuals/list.csv',
      content: 'a;b\n1;2\n',
    })
    expect(streamed.ok).toBe(true)
    const { file: list } = await call('getFile', { id: streamed.botpressFileId })
    expect(list).toMatchObject({ size: 8, contentType: 'text/csv', status: 'upload_completed' })
    for (const { id } of (await call('listFiles', { tags: { externalId: 'ext/1' } })).files)
      await call('deleteFile', { id })
    expect(await search()).toEqual([])
  })

  test('that delete the files of a folder find all of them, page by page', async () => {
    for (let n = 0; n < 45; n += 1) await call('upsertFile', { key: `share:/${n}`, size: 0, tags: tagsOf(n) })
    const found = await listAll()
    const inside = found.filter(({ tags }) => tags['externalPath']!.startsWith('/in/'))
    expect([found.length, inside.length]).toEqual([45, 23])
    await Promise.all(inside.map(({ id }) => call('deleteFile', { id })))
    expect(await listAll()).toHaveLength(22)
  })

  test('that copy items into a table, whose columns are those of the first one, are answered', async () => {
    const { table } = await call('createTable', { name: 'itemsTable', schema: { ...item(1), note: null, empty: [] } })
    expect(table.schema.properties).toMatchObject({ _id: { type: 'string' }, size: { type: 'number' } })
    const upsert = (rows: object[]) => call('upsertTableRows', { table: 'itemsTable', rows, keyColumn: '_id' })
    expect((await upsert([item(1), item(2)])).inserted).toHaveLength(2)
    const again = await upsert([{ ...item(2), title: 'New', note: 'x' }, item(3)])
    expect(again).toMatchObject({ inserted: [item(3)], updated: [{ ...item(2), title: 'New', note: 'x' }] })
    expect(again.errors).toBeUndefined()
    const deletion = { table: 'itemsTable', filter: { _id: { $eq: '2' } } }
    expect(await call('deleteTableRows', deletion)).toMatchObject({ deletedRows: 1 })
    expect(await call('deleteTable', { table: 'itemsTable' })).toEqual({})
  })
})

test('the published client uploads 20 MB from an isolate', { timeout: 60_000 }, async () => {
  const { call, botId } = await openCaller('in an isolate')
  const { file } = (await call('callAction', { type: 'uploadLarge', input: { megabytes: 20 } })).output
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId })
  const stored = (await client.getFile({ id: file.id })).file
  expect(stored).toMatchObject({ status: 'upload_completed', size: 20 * 1024 * 1024 })
  const content = Buffer.from(await (await fetch(stored.url)).arrayBuffer())
  expect(content.equals(Buffer.alloc(20 * 1024 * 1024, 'abc'))).toBe(true)
})

test('a second run of an event repeats its writes of rows from the journal', async () => {
  const bot = await platform.createBot(`
    export const retry = { attempts: 2, backoff: 1 }
    let runs = 0
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        const properties = { number: { type: 'number' } }
        await client.getOrCreateTable({ table: 'runsTable', schema: { type: 'object', properties }, keyColumn: 'number' })
        const { rows } = await client.createTableRows({ table: 'runsTable', rows: [{ number: 1 }] })
        await client.updateTableRows({ table: 'runsTable', rows: [{ id: rows[0].id, number: 2 }] })
        const upserted = await client.upsertTableRows({ table: 'runsTable', keyColumn: 'number', rows: [{ number: 3 }] })
        runs += 1
        if (runs === 1) throw new Error('once more')
        const text = JSON.stringify([rows, upserted.inserted, upserted.updated].map((list) => list.length))
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      },
    }`)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'go')
  await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toEqual(['[1,1,0]'])
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const { rows } = await client.findTableRows({ table: 'runsTable' })
  expect(rows.map(({ number }) => number)).toEqual([2, 3])
})
