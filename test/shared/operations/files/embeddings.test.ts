import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEmbeddings, tokensOf, type EmbeddingsEndpoint } from '../../../support/embeddings-endpoint.ts'
import { installIntegration, storeIntegration } from '../../../support/install-integration.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { Processes } from '../../../support/processes.ts'

let endpoint: EmbeddingsEndpoint
let platform: Platform
let botId: string
beforeAll(async () => {
  endpoint = await startEmbeddings()
  platform = await openPlatform({
    backEnd: 'postgres',
    environment: { WORKER_SWEEP_SECONDS: '1', ...endpoint.environment },
  })
  botId = (await platform.createBot()).id
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await endpoint[Symbol.asyncDispose]()
})

const ask = (method: string, path: string, body?: unknown) => platform.ask(method, path, body, { 'x-bot-id': botId })

/** Uploads a file, and resolves when searches find it by its words. */
async function upload(key: string, content: string, tags: Record<string, string> = {}): Promise<string> {
  const { body } = await ask('PUT', '/v1/files', { key, size: 0, index: true, tags })
  await fetch(body.file.uploadUrl, { method: 'PUT', body: content })
  const { id } = body.file
  await expect.poll(async () => (await fileOf(id)).status, { timeout: 30_000 }).toBe('indexing_completed')
  return id
}

const fileOf = async (id: string) => (await ask('GET', `/v1/files/${id}`)).body.file
const rowOf = (id: string) => platform.context.db('files').where({ id }).first('embedded_model', 'embedding_due_at')

async function search(query: string, fields: Record<string, string> = {}): Promise<string[]> {
  const parameters = new URLSearchParams({ query, contextDepth: '0', ...fields })
  const { status, body } = await ask('GET', `/v1/files/search?${parameters.toString()}`)
  expect(status).toBe(200)
  return body.passages.map(({ file }: { file: { key: string } }) => file.key)
}

async function embedded(id: string): Promise<void> {
  await expect.poll(() => rowOf(id), { timeout: 40_000 }).toEqual({ embedded_model: 'english', embedding_due_at: null })
}

describe('passages with vectors', { timeout: 90_000 }, () => {
  test('are found by what they are about, where no word is that of the question', async () => {
    const ids = [
      await upload('cars.txt', 'Automobiles must be parked behind the building.', { area: 'site' }),
      await upload('meals.txt', 'Lunch is served at noon in the canteen.', { area: 'food' }),
    ]
    for (const id of ids) await embedded(id)
    expect((await search('Where do I leave my vehicle?'))[0]).toBe('cars.txt')
    expect((await search('When can we eat?'))[0]).toBe('meals.txt')
    expect(await search('Where do I leave my vehicle?', { 'tags.area': 'food' })).toEqual(['meals.txt'])
    const other = await platform.createBot()
    const { body } = await platform.ask('GET', '/v1/files/search?query=vehicle', undefined, { 'x-bot-id': other.id })
    expect(body.passages).toEqual([])
  })

  test('of an integration are found by the bot, and by other integrations with the policy only', async () => {
    const [one, other] = [await storeIntegration(platform), await storeIntegration(platform)]
    await installIntegration(platform, botId, one, { alias: 'one' })
    await installIntegration(platform, botId, other, { alias: 'other' })
    const asIntegration = (id: string) => ({ 'x-bot-id': botId, 'x-integration-id': id })
    const description = { key: 'bicycles.txt', size: 0, index: true }
    const { body } = await platform.ask('PUT', '/v1/files', description, asIntegration(one))
    await fetch(body.file.uploadUrl, { method: 'PUT', body: 'Bicycles are kept in the cellar.' })
    await expect.poll(async () => (await fileOf(body.file.id)).status, { timeout: 30_000 }).toBe('indexing_completed')
    await embedded(body.file.id)
    const findsIt = async (headers: Record<string, string>) => {
      // By a word of it, and by its meaning only.
      const queries = ['bicycles', 'Where do I leave my two-wheeler?']
      const answers = await Promise.all(
        queries.map((query) => platform.ask('GET', `/v1/files/search?query=${query}`, undefined, headers)),
      )
      return answers.map(({ body: found }) =>
        found.passages.some(({ file }: { file: { key: string } }) => file.key === 'bicycles.txt'),
      )
    }
    expect(await findsIt(asIntegration(one))).toEqual([true, true])
    expect(await findsIt({ 'x-bot-id': botId })).toEqual([true, true])
    expect(await findsIt(asIntegration(other))).toEqual([false, false])
    await ask('PUT', `/v1/files/${body.file.id}`, { accessPolicies: ['integrations'] })
    expect(await findsIt(asIntegration(other))).toEqual([true, true])
  })

  test('get vectors of another model when it is another one', async () => {
    const id = await upload('trains.txt', 'Journeys by rail are refunded.')
    await embedded(id)
    await platform.context.db.raw(`update passage_vectors set model = 'former'`)
    await platform.context.db('files').where({ id }).update({ embedded_model: 'former', embedding_due_at: new Date() })
    await embedded(id)
    const models = await platform.context
      .db('passage_vectors')
      .join('passages', 'passages.id', 'passage_id')
      .where({ file_id: id })
      .pluck('model')
    expect(models).toEqual(['english'])
  })
})

/** The present metrics of embeddings, by series. */
async function readMetrics() {
  const text = await platform.context.metrics.registry.metrics()
  const lines = text.split('\n')
  return (series: string) =>
    Number(lines.find((line) => line.startsWith(`isobot_embedding_${series} `))?.split(' ')[1] ?? 0)
}

test('requests for vectors are counted, with their texts and tokens', { timeout: 60_000 }, async () => {
  const before = await readMetrics()
  const asked = endpoint.requests.length
  await embedded(await upload('ferries.txt', 'The ferry leaves every hour.'))
  await search('ferry')
  endpoint.instead = 400
  await search('ferry')
  endpoint.instead = undefined
  const after = await readMetrics()
  const grown = (series: string) => after(series) - before(series)
  expect({
    passages: grown('request_duration_seconds_count{kind="passages",outcome="answered"}'),
    questions: grown('request_duration_seconds_count{kind="question",outcome="answered"}'),
    refused: grown('request_duration_seconds_count{kind="question",outcome="refused"}'),
    failed: grown('request_duration_seconds_count{kind="question",outcome="failed"}'),
    texts: grown('texts_total{kind="passages"}'),
    questionTexts: grown('texts_total{kind="question"}'),
    tokens: grown('tokens_total'),
  }).toEqual({
    passages: 1,
    questions: 1,
    refused: 1,
    failed: 0,
    texts: 1,
    questionTexts: 1,
    tokens: tokensOf(endpoint.requests[asked]!) + tokensOf(['ferry']),
  })
})

test(
  'a worker killed while it makes vectors loses none, and one with another model makes them all again',
  { timeout: 120_000 },
  async () => {
    const environment = { WORKER_SWEEP_SECONDS: '1', WORKER_LOCK_SECONDS: '2', WORKER_STALLED_SECONDS: '1' }
    await using own = await openPlatform({
      backEnd: 'postgres',
      worker: false,
      environment: { ...environment, ...endpoint.environment },
    })
    const processes = new Processes()
    await using _ = { [Symbol.asyncDispose]: () => processes.stop() }
    const { db } = own.context
    const headers = { 'x-bot-id': (await own.createBot()).id }
    const description = { key: 'birds.md', size: 0, index: true }
    const { file } = (await own.ask('PUT', '/v1/files', description, headers)).body
    const birds = Array.from({ length: 18 }, (_each, n) => `# Bird ${n}\n\nIt sings.`)
    await fetch(file.uploadUrl, { method: 'PUT', body: birds.join('\n\n') })
    const modelOf = async () => (await db('files').where({ id: file.id }).first())?.embedded_model
    const vectors = () => db('passage_vectors').orderBy('number').select('passage_id', 'number', 'model')

    // The last two passages are those of a second request.
    endpoint.silentAbout = 'Bird 17'
    const victim = await processes.start(own, 'worker')
    const isAsked = () => endpoint.requests.some((texts) => texts.some((text) => text.includes('Bird 17')))
    await expect.poll(isAsked, { timeout: 60_000 }).toBe(true)
    const before = await vectors()
    expect(before).toHaveLength(16)
    process.kill(victim.pid, 'SIGKILL')
    await victim.exited
    endpoint.silentAbout = undefined
    const found = await own.ask('GET', '/v1/files/search?query=bird', undefined, headers)
    expect(found.body.passages).not.toEqual([])

    // As if the lease of the killed worker were over.
    await db('files').where({ id: file.id }).update({ embedding_due_at: new Date() })
    const asked = endpoint.requests.length
    const next = await processes.start(own, 'worker')
    await expect.poll(modelOf, { timeout: 60_000 }).toBe('english')
    const after = await vectors()
    expect(after.slice(0, 16)).toEqual(before)
    expect(new Set(after.map(({ passage_id: id }) => id)).size).toBe(18)
    const madeAgain = endpoint.requests.slice(asked).flat()
    expect(madeAgain.filter((text) => text.includes('Bird')).length).toBe(2)
    await next.stop()

    await processes.start(own, 'worker', { EMBEDDINGS_MODEL: 'another' })
    await expect.poll(modelOf, { timeout: 60_000 }).toBe('another')
    const models = (await vectors()).map(({ model }) => model)
    expect(models).toEqual(Array.from({ length: 18 }, () => 'another'))
  },
)

describe('a text of which the model makes no vector', { timeout: 90_000 }, () => {
  test('delays no question of others', async () => {
    const id = await upload('ships.txt', 'Vessels leave the harbour at dawn.')
    await embedded(id)
    endpoint.emptyAbout = 'nothing'
    try {
      expect(await search('nothing')).toEqual([])
      expect((await search('When do the boats depart?'))[0]).toBe('ships.txt')
    } finally {
      endpoint.emptyAbout = undefined
    }
  })

  test('leaves the other passages of its file theirs, and the file says so', async () => {
    endpoint.emptyAbout = 'Page 3'
    try {
      const pages = Array.from(
        { length: 20 },
        (_each, n) => `# Page ${n}\n\n${n === 19 ? 'Cats purr.' : 'It is blank.'}`,
      )
      const id = await upload('pages.md', pages.join('\n\n'))
      await embedded(id)
      expect((await fileOf(id)).failedStatusReason).toBe(
        'Searches find 1 of its passages by words only: the model makes no vectors of them',
      )
      expect((await search('What noise do kittens make?'))[0]).toBe('pages.md')
    } finally {
      endpoint.emptyAbout = undefined
    }
  })

  test('is asked for once, where its file has no other, or no other without a vector', async () => {
    endpoint.emptyAbout = 'blank'
    try {
      const id = await upload('blank.txt', 'This page is left blank.')
      await embedded(id)
      expect((await fileOf(id)).failedStatusReason).toMatch(/^Searches find 1 of its passages by words only/)
      const pages = Array.from({ length: 20 }, (_each, n) => `# Sheet ${n}\n\nIt is ${n < 18 ? 'blank' : 'full'}.`)
      const other = await upload('blank.md', pages.join('\n\n'))
      await embedded(other)
      expect((await fileOf(other)).failedStatusReason).toMatch(/^Searches find 18 of its passages by words only/)
      for (const text of ['This page is left blank.', 'Sheet 3\nIt is blank.'])
        expect(endpoint.requests.filter((texts) => texts.length === 1 && texts[0] === text).length).toBe(1)
    } finally {
      endpoint.emptyAbout = undefined
    }
  })
})

describe('an endpoint that fails', { timeout: 90_000 }, () => {
  test('leaves searches by words, and says so at the file, until it answers again', async () => {
    endpoint.instead = 500
    const id = await upload('stairs.txt', 'The staircase is closed on Sundays.')
    await expect
      .poll(async () => (await fileOf(id)).failedStatusReason, { timeout: 20_000 })
      .toBe('Searches find the file by its words only. The endpoint of embeddings answered with status 500')
    expect(await fileOf(id)).toMatchObject({ status: 'indexing_completed' })
    expect(await search('staircase')).toContain('stairs.txt')
    endpoint.instead = undefined
    await embedded(id)
    expect((await fileOf(id)).failedStatusReason).toBeUndefined()
  })

  test('is not waited for longer than two seconds, and not again right after that', async () => {
    endpoint.instead = 'silence'
    try {
      expect(await search('staircase')).toContain('stairs.txt')
      const asked = endpoint.requests.length
      expect(await search('staircase')).toContain('stairs.txt')
      expect(endpoint.requests.length).toBe(asked)
    } finally {
      endpoint.instead = undefined
    }
  })
})
