import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEmbeddings, type EmbeddingsEndpoint } from '../../../support/embeddings-endpoint.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

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
