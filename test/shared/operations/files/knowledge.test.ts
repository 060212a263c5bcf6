import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TagCondition } from '#shared/models/tag-filter.ts'
import { completeIndexing, findIndexing } from '#shared/store/indexing.ts'
import { searchPassages } from '#shared/store/search-passages.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { makeDocx, makePdf } from '../../../support/documents.ts'
import { replies } from '../../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let botId: string
beforeAll(async () => {
  platform = await openPlatform({
    backEnd: 'postgres',
    environment: { FILE_PASSAGES: '300', BOT_INDEXED_MB: '1', WORKER_SWEEP_SECONDS: '1' },
  })
  botId = (await platform.createBot()).id
})
afterAll(() => platform[Symbol.asyncDispose]())

const ask = (method: string, path: string, body?: unknown, bot = botId) =>
  platform.ask(method, path, body, { 'x-bot-id': bot })

interface Options {
  bot?: string
  contentType?: string
  tags?: Record<string, string>
  [field: string]: unknown
}

/** Uploads a file, and resolves when it has been indexed, or not. */
async function upload(key: string, content: string | Uint8Array, { bot = botId, ...others }: Options = {}) {
  const { status, body } = await ask('PUT', '/v1/files', { key, size: 0, index: true, ...others }, bot)
  expect(status).toBe(200)
  expect((await fetch(body.file.uploadUrl, { method: 'PUT', body: Buffer.from(content) })).status).toBe(200)
  return settled(body.file.id, bot)
}

async function settled(id: string, bot = botId) {
  // Tests assert single fields; the schemas define the types.
  // oxlint-disable-next-line typescript/no-explicit-any
  let file: any
  await expect
    .poll(async () => (file = (await ask('GET', `/v1/files/${id}`, undefined, bot)).body.file).status, {
      timeout: 30_000,
    })
    .toMatch(/^indexing_(?:completed|failed)$/)
  return file
}

async function search(query: string, fields: Record<string, string> = {}, bot = botId) {
  const { status, body } = await ask(
    'GET',
    `/v1/files/search?${new URLSearchParams({ query, ...fields }).toString()}`,
    undefined,
    bot,
  )
  expect(status).toBe(200)
  // oxlint-disable-next-line typescript/no-explicit-any
  return body.passages as any[]
}

const text = (word: string) => `${word} `.repeat(40_000)

const rows = async (fileId: string) => platform.context.db('passages').where({ file_id: fileId })

/** A file that waits to be indexed, without a job that does so. */
async function claimed(key: string, columns: { index_attempts?: number } = {}) {
  const { id } = await upload(key, 'content')
  await platform.context
    .db('files')
    .where({ id })
    .update({ status: 'indexing_pending', updated_at: new Date(Date.now() + 3_600_000), ...columns })
  return (await findIndexing(platform.context.db, id))!
}

const handbook = `# Handbook

The canteen opens at noon.

## Holidays

Employees have thirty days of holiday each year. Requests go to the personnel office.

## Travel

Journeys by train are refunded in full. Flights need the approval of a manager.
`

describe('indexed files are found by searches', { timeout: 60_000 }, () => {
  test('by a question, with the passages around what was found', async () => {
    const file = await upload('hr/handbook.md', handbook, { tags: { area: 'hr' }, metadata: { title: 'Handbook' } })
    expect(file).toMatchObject({ status: 'indexing_completed', indexingStack: 'v2' })
    const [found, ...others] = await search('How many days of holiday do I have?', {
      contextDepth: '0',
      includeBreadcrumb: 'true',
      withContext: 'true',
    })
    expect(found).toMatchObject({
      content: expect.stringMatching(/^Handbook\nHolidays\nEmployees have thirty days/),
      meta: { type: 'chunk', subtype: 'paragraph', position: 1 },
      file: { id: file.id, key: 'hr/handbook.md', tags: { area: 'hr' }, metadata: { title: 'Handbook' } },
      context: [
        { type: 'breadcrumb', text: 'Handbook' },
        { type: 'breadcrumb', text: 'Holidays' },
        { type: 'current', offset: 0, id: expect.any(String) },
      ],
    })
    expect(found.score).toBeGreaterThan(0.3)
    expect(found.score).toBeLessThanOrEqual(1)
    expect(others.every(({ score }) => score <= found.score)).toBe(true)
    const [joined] = await search('holiday')
    expect(joined.content).toMatch(/canteen[^]*thirty days[^]*train/)
    expect(joined.context).toBeUndefined()
  })

  test('by words with accents, in another case, in another form, and misspelt', async () => {
    await upload('menu.txt', 'The café serves crème brûlée on Fridays.')
    for (const query of ['CAFE', 'creme brulee', 'friday', 'brulle']) {
      expect({ query, key: (await search(query))[0]?.file.key }).toEqual({ query, key: 'menu.txt' })
    }
  })

  test('by words beside marks of any language, and with marks that are not seen', async () => {
    await upload(
      'marks.txt',
      'The “kakapo”—a parrot—is the farm’s pride; its Nacht\u00ADlager is warm. «Où est le kiwi ?»',
    )
    await upload('arabic.txt', 'يفتح المتجر، من الساعة التاسعة')
    for (const query of ['kakapo', 'parrot', 'farm', 'nachtlager', 'Kiwi?', '“pride”']) {
      const [found] = await search(query)
      expect({ query, key: found?.file.key, score: found?.score }).toEqual({ query, key: 'marks.txt', score: 1 })
    }
    const [found] = await search('المتجر؟')
    expect(found).toMatchObject({ file: { key: 'arabic.txt' }, score: 1 })
  })

  test.each([
    ['Japanese', '店は平日の九時から五時まで開いています。', '店は何時に開きますか'],
    ['Chinese', '我们的营业时间是周一至周五，从九点到十七点。', '营业时间是什么？'],
    ['Thai', 'ร้านเปิดวันจันทร์ถึงวันศุกร์ เวลาเก้าโมงถึงห้าโมงเย็น', 'ร้านเปิดกี่โมง'],
  ])('by words of %s, which has no spaces between them, also in a long paragraph', async (language, text, question) => {
    const key = `${language}.txt`
    await upload(key, text.repeat(20))
    expect((await search(question))[0]?.file.key).toBe(key)
  })

  test('by words of a text in the encoding of its content type', async () => {
    await upload('mir.txt', Buffer.from([0xcc, 0xe8, 0xf0]), { contentType: 'text/plain; charset=windows-1251' })
    expect((await search('мир'))[0]?.content).toBe('Мир')
  })

  test('by whole words where the database has no trigrams', async () => {
    const { db } = platform.context
    await upload('soup.txt', 'The minestrone is served on Mondays.')
    expect((await search('minestroni'))[0]?.file.key).toBe('soup.txt')
    const [index] = await db('pg_indexes').where({ indexname: 'passages_by_trigrams' }).pluck('indexdef')
    await db.raw('drop extension pg_trgm cascade')
    try {
      expect((await search('MINESTRONE, monday'))[0]?.file.key).toBe('soup.txt')
      expect(await search('minestroni')).toEqual([])
      expect(await upload('bread.txt', 'The baguette is fresh.')).toMatchObject({ status: 'indexing_completed' })
      expect((await search('baguette'))[0]?.file.key).toBe('bread.txt')
    } finally {
      await db.raw('create extension pg_trgm')
      await db.raw(index as string)
    }
  })

  test('one result for each file, when consolidated', async () => {
    const passages = await search('holiday train canteen', { consolidate: 'true', contextDepth: '0' })
    const [first] = passages.filter(({ file }) => file.key === 'hr/handbook.md')
    expect(passages.filter(({ file }) => file.key === 'hr/handbook.md')).toHaveLength(1)
    expect(first.meta).toEqual({ type: 'consolidated' })
    expect(first.content).toMatch(/^Handbook\n[^]*canteen[^]*Holidays\n[^]*Travel\n/)
    expect(first.content.match(/Handbook/g)).toHaveLength(1)
  })

  test('only where the tags match', async () => {
    expect(await search('holiday', { 'tags.area': 'hr' })).not.toEqual([])
    expect(await search('holiday', { 'tags.area': 'sales' })).toEqual([])
    expect(await search('holiday', { 'tags.area.not': 'hr' })).toEqual([])
  })

  test('only those of the bot itself', async () => {
    const other = await platform.createBot()
    expect(await search('holiday', {}, other.id)).toEqual([])
    await upload('other.txt', 'holiday on another planet', { bot: other.id })
    expect((await search('holiday')).some(({ file }) => file.key === 'other.txt')).toBe(false)
  })

  test('nothing for words that no passage has, and nothing breaks for marks', async () => {
    for (const query of ['zzzzqqqq', 'the', "';--", "a\\'b", '!!!', '<-> & | !', '日本語', '؟']) {
      expect({ query, found: await search(query) }).toEqual({ query, found: [] })
    }
  })

  test('PDF and Word, with pages', async () => {
    await upload(
      'a.pdf',
      makePdf([
        ['First', 'Nothing here.'],
        ['Second', 'The submarine is yellow.'],
      ]),
    )
    await upload('b.docx', makeDocx('<w:p><w:r><w:t>The helicopter is green.</w:t></w:r></w:p>'))
    expect((await search('submarine', { contextDepth: '0' }))[0]).toMatchObject({
      content: 'The submarine is yellow.',
      meta: { pageNumber: 2 },
    })
    expect((await search('helicopter'))[0]?.file.key).toBe('b.docx')
  })
})

test('a file without text says that searches find nothing of it, until it has some', async () => {
  const noText = /^The file has no text, so searches find nothing of it/
  for (const [key, content] of [
    ['scanned.pdf', makePdf([[]])],
    ['empty.txt', ''],
  ] as const) {
    expect(await upload(key, content)).toMatchObject({
      status: 'indexing_completed',
      failedStatusReason: expect.stringMatching(noText),
    })
  }
  expect((await upload('empty.txt', 'some')).failedStatusReason).toBeUndefined()
})

describe('a file that cannot be indexed says why', { timeout: 60_000 }, () => {
  test.each<[string, string, string | Uint8Array, RegExp]>([
    ['its format', 'a.zip', 'PK', /^Files of the type application\/zip cannot be indexed: the formats are PDF/],
    ['its format, with a way for its rows', 'a.csv', 'a,b', /^Files of the type text\/csv[^]* Import it into a table/],
    ['its content', 'c.pdf', 'no PDF', /^The file is not a readable PDF/],
    ['its length', 'long.txt', 'Some words of a sentence. '.repeat(20_000), /^The document has more than 300 passages/],
  ])('by %s', async (_what, key, content, reason) => {
    const file = await upload(key, content)
    expect(file).toMatchObject({ status: 'indexing_failed', failedStatusReason: expect.stringMatching(reason) })
    expect((await ask('GET', `/v1/files/${file.id}/passages`)).body.passages).toEqual([])
  })

  test('by the quota of its bot, and its text is not found', async () => {
    const bot = (await platform.createBot()).id
    const chunking = { indexing: { configuration: { chunking: { maximumChunkLength: 5000 } } } }
    const files = []
    for (const word of ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot']) {
      files.push(await upload(`${word}.txt`, text(word), { bot, ...chunking }))
    }
    const failed = files.filter(({ status }) => status === 'indexing_failed')
    expect(failed.length).toBeGreaterThan(0)
    expect(failed.length).toBeLessThan(files.length)
    expect(failed[0].failedStatusReason).toMatch(/BOT_INDEXED_MB/)
    expect(await search(failed[0].key.replace('.txt', ''), {}, bot)).toEqual([])
  })
})

describe('passages that are given', { timeout: 60_000 }, () => {
  test('replace those of the content, and are listed and found', async () => {
    const { id } = await upload('given.txt', 'walrus')
    const passages = [
      { content: 'Penguins', type: 'title' },
      { content: 'They live in the south.', pageNumber: 3 },
    ]
    expect(await ask('PUT', `/v1/files/${id}/passages`, { passages })).toMatchObject({ status: 200, body: {} })
    expect(await settled(id)).toMatchObject({ status: 'indexing_completed' })
    const listed = await ask('GET', `/v1/files/${id}/passages?limit=1`)
    expect(listed.body.passages).toEqual([
      { id: expect.any(String), content: 'Penguins', meta: { type: 'chunk', subtype: 'title', position: 0 } },
    ])
    const next = await ask('GET', `/v1/files/${id}/passages?limit=1&nextToken=${listed.body.meta.nextToken}`)
    expect(next.body).toMatchObject({ passages: [{ meta: { position: 1, pageNumber: 3 } }], meta: {} })
    expect((await search('penguins'))[0]?.file.id).toBe(id)
    expect(await search('walrus')).toEqual([])
  })

  test('are refused beyond the quota of a file, and for another bot’s file', async () => {
    const { id } = await upload('quota.txt', 'a')
    const passages = Array.from({ length: 301 }, () => ({ content: 'a' }))
    expect(await ask('PUT', `/v1/files/${id}/passages`, { passages })).toMatchObject({
      status: 403,
      body: { type: 'QuotaExceeded', message: expect.stringContaining('FILE_PASSAGES') },
    })
    const other = await platform.createBot()
    const foreign = await ask('PUT', `/v1/files/${id}/passages`, { passages: [] }, other.id)
    expect(foreign).toMatchObject({ status: 404, body: { message: expect.stringContaining('not found') } })
    expect((await ask('GET', `/v1/files/${id}/passages`, undefined, other.id)).status).toBe(404)
  })
})

describe('an indexing that is overtaken changes nothing', { timeout: 60_000 }, () => {
  const passages = [{ subtype: 'paragraph', text: 'stale', breadcrumb: [] }]
  test('by a deletion', async () => {
    const claim = await claimed('deleted.txt')
    expect((await ask('DELETE', `/v1/files/${claim.fileId}`)).status).toBe(200)
    expect(await completeIndexing(platform.context.db, claim, passages, platform.context.config)).toBe(false)
    expect(await rows(claim.fileId)).toEqual([])
  })

  test('by an upsert, whose content is indexed', async () => {
    const claim = await claimed('upserted.txt')
    const file = await upload('upserted.txt', 'flamingo')
    expect(await completeIndexing(platform.context.db, claim, passages, platform.context.config)).toBe(false)
    expect((await rows(claim.fileId)).map(({ text }: { text: string }) => text)).toEqual(['flamingo'])
    expect(file.id).toBe(claim.fileId)
  })

  test('by a deletion while its content is read, which is no failure', async () => {
    const { db, metrics } = platform.context
    const overtaken = async () =>
      (await metrics.indexings.get()).values.find(({ labels }) => labels.outcome === 'overtaken')?.value ?? 0
    const before = await overtaken()
    await db.raw(`create or replace function vanish() returns trigger language plpgsql as $$ begin
      delete from file_parts where object_id = new.object_id; delete from files where id = new.id; return null;
    end $$`)
    await db.raw(`create or replace trigger vanish after update of index_attempts on files for each row
      when (new.key = 'vanishing.txt' and new.index_attempts > old.index_attempts) execute function vanish()`)
    const { body } = await ask('PUT', '/v1/files', { key: 'vanishing.txt', size: 0, index: true })
    expect((await fetch(body.file.uploadUrl, { method: 'PUT', body: 'content' })).status).toBe(200)
    await expect.poll(overtaken, { timeout: 30_000 }).toBe(before + 1)
  })

  test('and a file whose job was lost is indexed after the sweep', async () => {
    const claim = await claimed('lost.txt')
    await platform.context
      .db('files')
      .where({ id: claim.fileId })
      .update({ updated_at: new Date(Date.now() - 60_000) })
    expect(await settled(claim.fileId)).toMatchObject({ status: 'indexing_completed' })
  })

  test('passages of a former content are deleted by the sweep', async () => {
    const { id } = await upload('former.txt', 'ostrich')
    await ask('PUT', '/v1/files', { key: 'former.txt', size: 1 })
    await expect.poll(() => rows(id), { timeout: 20_000 }).toEqual([])
    expect(await search('ostrich')).toEqual([])
  })

  test('a file that only waited for its turn when workers ended has lost no attempt', async () => {
    const claim = await claimed('waiting.txt')
    for (let workers = 0; workers < 5; workers += 1) await findIndexing(platform.context.db, claim.fileId)
    await platform.context.queue.wake('index-file', claim.fileId, botId)
    expect(await settled(claim.fileId)).toMatchObject({ status: 'indexing_completed' })
  })

  test('a file is given up after three attempts', async () => {
    // In one statement: a job that the sweep has added during the upload may begin at any time.
    const claim = await claimed('poison.txt', { index_attempts: 3 })
    await platform.context.queue.wake('index-file', claim.fileId, botId)
    expect(await settled(claim.fileId)).toMatchObject({
      status: 'indexing_failed',
      failedStatusReason: 'Indexing the file was interrupted several times',
    })
  })
})

test('event.kb has what the code of an event found, and is not stored', { timeout: 60_000 }, async () => {
  const bot = await platform.createBot(`
    export const actions = {
      async look({ event, client, input }) {
        const before = 'kb' in event
        await client.searchFiles(input)
        return { before, kb: event.kb }
      },
    }
    export const hooks = {}`)
  const base = (name: string) => ask('POST', '/v1/files/knowledge-bases', { name }, bot.id)
  const { id: kbId } = (await base('Handbooks')).body.knowledgeBase
  await base('Others')
  const tags = { source: 'knowledge-base', kbId }
  const { id: fileId } = await upload('docs/a.md', '# A\n\nThe lighthouse is red.', { bot: bot.id, tags })
  const look = async (input: object) => {
    const { status, body } = await ask('POST', '/v1/chat/actions', { type: 'look', input }, bot.id)
    expect(status).toBe(200)
    return body.output
  }
  expect(await look({ query: 'lighthouse', tags: { kbId } })).toEqual({
    before: false,
    kb: {
      included: [{ id: kbId, name: 'Handbooks', tags: {} }],
      results: [
        {
          content: 'The lighthouse is red.',
          score: expect.any(Number),
          dsFriendlyName: 'a.md',
          kbId,
          fileId,
          key: 'docs/a.md',
          position: 0,
        },
      ],
    },
  })
  const all = await look({ query: 'nothing' })
  expect(all.kb.included.map(({ name }: { name: string }) => name)).toEqual(['Handbooks', 'Others'])
  expect(all.kb.results).toEqual([])
  // The result is what the action itself returned.
  const stored = await platform.context.db('events').where({ bot_id: bot.id })
  expect(JSON.stringify(stored.map(({ result: _result, ...event }) => event))).not.toContain('dsFriendlyName')
})

test('event.kb is there for later hooks of the event, and for no other event', { timeout: 60_000 }, async () => {
  const bot = await platform.createBot(`
    const show = (event) => String(event.kb?.results[0]?.key)
    export const hooks = {
      async beforeIncomingMessage({ event, client }) {
        if (event.preview === 'search') await client.searchFiles({ query: 'heron' })
      },
      async afterIncomingMessage({ event, client }) {
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: show(event) } })
      },
    }`)
  await upload('birds.txt', 'The heron stands in the water.', { bot: bot.id })
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  for (const text of ['search', 'other']) await user.send(conversationId, text)
  await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toEqual(['birds.txt', 'undefined'])
})

test('the published client and bot code search, list and set passages', { timeout: 60_000 }, async () => {
  const bot = await platform.createBot(`
    export const actions = {
      async use({ client, input: { id } }) {
        const { passages } = await client.listFilePassages({ id })
        await client.setFilePassages({ id, passages: [{ content: 'The kingfisher dives.' }] })
        return passages.map(({ content }) => content)
      },
    }
    export const hooks = {}`)
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const { id } = await upload('waders.txt', 'The curlew wades.', { bot: bot.id })
  const { passages } = await client.searchFiles({ query: 'curlew' })
  expect(passages).toMatchObject([{ content: 'The curlew wades.', file: { id, key: 'waders.txt' } }])
  const used = await ask('POST', '/v1/chat/actions', { type: 'use', input: { id } }, bot.id)
  expect(used.body.output).toEqual(['The curlew wades.'])
  await settled(id, bot.id)
  expect((await client.searchFiles({ query: 'kingfisher' })).passages).toHaveLength(1)
  await client.setFilePassages({ id, passages: [{ content: 'The avocet sweeps.', type: 'paragraph', pageNumber: 2 }] })
  await settled(id, bot.id)
  const listed = await client.list.filePassages({ id }).collect({})
  expect(listed).toMatchObject([{ content: 'The avocet sweeps.', meta: { pageNumber: 2 } }])
})

test('metrics count uploads, their bytes, indexings by outcome, and what is stored', { timeout: 60_000 }, async () => {
  const { registry } = platform.context.metrics
  const read = async () => {
    const text = await registry.metrics()
    return (series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1] ?? 0,
      )
  }
  const before = await read()
  await upload('counted.txt', 'The dunlin runs.')
  await upload('counted.zip', 'PK')
  const refused = await ask('PUT', '/v1/files', { key: 'large.bin', size: 0 })
  expect((await fetch(`${refused.body.file.uploadUrl}x`, { method: 'PUT', body: 'x' })).status).toBe(404)
  const columns = { schema: { a: 1 } }
  await ask('POST', '/v1/tables', { name: 'countedTable', ...columns })
  await ask('POST', '/v1/tables/countedTable/rows', { rows: [{ a: 1 }, { a: 2 }] })
  const after = await read()
  const grown = (series: string) => after(`isobot_${series}`) - before(`isobot_${series}`)
  expect({
    stored: grown('file_uploads_total{outcome="stored"}'),
    refused: grown('file_uploads_total{outcome="refused"}'),
    uploaded: grown('file_upload_bytes_total'),
    indexed: grown('file_indexings_total{outcome="completed"}'),
    notIndexed: grown('file_indexings_total{outcome="refused"}'),
    attempts: grown('file_indexing_seconds_count'),
    bytes: grown('file_bytes'),
    files: grown('stored_items{kind="files"}'),
    tables: grown('stored_items{kind="tables"}'),
    rows: grown('stored_items{kind="table_rows"}'),
  }).toEqual({
    stored: 2,
    refused: 1,
    uploaded: 18,
    indexed: 1,
    notIndexed: 1,
    attempts: 2,
    bytes: 18,
    files: 3,
    tables: 1,
    rows: 2,
  })
  const { db } = platform.context
  await db('files')
    .where({ key: 'counted.zip' })
    .update({ status: 'indexing_pending', updated_at: new Date(Date.now() - 3_600_000), expires_at: new Date() })
  const waiting = await read()
  expect(waiting('isobot_files_to_index')).toBeGreaterThanOrEqual(1)
  expect(waiting('isobot_oldest_file_to_index_seconds')).toBeGreaterThan(3000)
})

test('a question is compared with some of the passages that have its frequent words, and with all that have the rare ones', async () => {
  const bot = (await platform.createBot()).id
  const { id: fileId } = await upload('orders.txt', 'Where orders are.', { bot, tags: { area: 'one' } })
  const { db } = platform.context
  const transaction = await db.transaction()
  try {
    await transaction.raw(
      `insert into passages (file_id, bot_id, generation, position, subtype, text, bytes, folded, terms)
       select file_id, bot_id, generation, n, subtype, made.text, bytes, made.text,
         to_tsvector('english', made.text) || array_to_tsvector(array['=' || bot_id])
       from passages, generate_series(1, 3000) n, lateral (
         select 'Where orders of customers are' || case n when 2500 then ', and refunds' else '' end as text
       ) made where file_id = ?`,
      [fileId],
    )
    await transaction.raw('analyze passages')
    const countRead = async () => {
      const { rows } = await transaction.raw<{ rows: { read: number }[] }>(
        `select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables where relname = 'passages'`,
      )
      return rows[0]!.read
    }
    const find = async (query: string, tags: TagCondition[] = []) => {
      const before = await countRead()
      const bounds = { rare: 100, frequent: 50 }
      const found = await searchPassages(transaction, { botId: bot }, { query, tags, limit: 20 }, [], bounds)
      return { found, read: (await countRead()) - before }
    }
    const { found, read } = await find('orders of customers, refunds')
    expect(found).toHaveLength(20)
    expect(found[0]).toMatchObject({ position: 2500, score: 1 })
    // They are counted once, a thousand of them show which words are frequent.
    expect(read).toBeLessThan(9000)
    const frequent = await find('orders of customers')
    expect(frequent.found.map(({ score }) => score)).toEqual(Array.from({ length: 20 }, () => 1))
    expect(frequent.read).toBeLessThan(9000)
    const tagged = await find('refunds of orders', [{ tag: 'area', anyOf: ['one'] }])
    expect(tagged.found[0]).toMatchObject({ position: 2500 })
    expect((await find('refunds of orders', [{ tag: 'area', anyOf: ['two'] }])).found).toEqual([])
  } finally {
    await transaction.rollback()
  }
})
