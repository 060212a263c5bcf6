import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  embeddingsKey,
  startEmbeddings,
  tokensOf,
  type EmbeddingsEndpoint,
} from '../../../support/embeddings-endpoint.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

const model = 'openai:text-embedding-3-small'
const ownKey = 'sk-of-the-workspace'

let endpoint: EmbeddingsEndpoint
let platform: Platform
beforeAll(async () => {
  endpoint = await startEmbeddings()
  platform = await openPlatform({
    backEnd: 'postgres',
    environment: {
      WORKER_SWEEP_SECONDS: '1',
      OPENAI_BASE_URL: endpoint.environment['EMBEDDINGS_URL'],
      OPENAI_API_KEY: embeddingsKey,
      EMBEDDINGS_MODEL: model,
    },
  })
})
beforeEach(() => {
  endpoint.calls.length = 0
  endpoint.requests.length = 0
  endpoint.keys = new Set([embeddingsKey, ownKey])
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await endpoint[Symbol.asyncDispose]()
})

type Headers = Record<string, string>

/** A workspace of its own with a bot, and the headers of requests for both. */
async function newBot(): Promise<{ botId: string; member: Headers; headers: Headers }> {
  const member = await createMember(platform, 'owner')
  const { body } = await platform.ask('POST', '/v1/admin/bots', {}, member)
  return { botId: body.bot.id, member, headers: { ...member, 'x-bot-id': body.bot.id } }
}

/** Uploads a file, and resolves when searches find it by its words. */
async function upload(headers: Headers, content: string): Promise<string> {
  const { body } = await platform.ask('PUT', '/v1/files', { key: 'a.txt', size: 0, index: true }, headers)
  await fetch(body.file.uploadUrl, { method: 'PUT', body: content })
  const { id } = body.file
  await expect.poll(async () => (await fileOf(id, headers)).status, { timeout: 60_000 }).toBe('indexing_completed')
  return id
}

const fileOf = async (id: string, headers: Headers) =>
  (await platform.ask('GET', `/v1/files/${id}`, undefined, headers)).body.file

async function embedded(id: string): Promise<void> {
  const row = () => platform.context.db('files').where({ id }).first('embedded_model', 'failed_status_reason')
  await expect
    .poll(row, { timeout: 40_000 })
    .toEqual({ embedded_model: 'text-embedding-3-small', failed_status_reason: null })
}

/** Due attempts are made now, as if their delay were over. */
const hurry = (id: string) => platform.context.db('files').where({ id }).update({ embedding_due_at: new Date() })

async function search(query: string, headers: Headers): Promise<string[]> {
  const parameters = new URLSearchParams({ query, contextDepth: '0' })
  const { status, body } = await platform.ask('GET', `/v1/files/search?${parameters.toString()}`, undefined, headers)
  expect(status).toBe(200)
  return body.passages.map(({ content }: { content: string }) => content)
}

const setBudget = (budget: object, { botId, member }: { botId: string; member: Headers }) =>
  platform.ask('PUT', '/v1/admin/models/budget', { budget, botId }, member)
const usageOf = async ({ botId, member }: { botId: string; member: Headers }) =>
  (await platform.ask('GET', `/v1/admin/models/usage?botId=${botId}`, undefined, member)).body
const spentOf = async ({ botId, member }: { botId: string; member: Headers }) =>
  (await platform.ask('GET', `/v1/admin/models/budget?botId=${botId}`, undefined, member)).body.spent

test(
  'vectors of a provider of language models use its key, and count in usage and budgets',
  { timeout: 120_000 },
  async () => {
    const bot = await newBot()
    await embedded(await upload(bot.headers, 'Automobiles must be parked behind the building.'))
    expect(await search('Where do I leave my vehicle?', bot.headers)).toHaveLength(1)
    expect(endpoint.calls).toEqual(
      [1, 2].map(() => ({ key: embeddingsKey, model: 'text-embedding-3-small', path: '/v1/embeddings' })),
    )
    const tokens = endpoint.requests.reduce((sum, texts) => sum + tokensOf(texts), 0)
    const cost = (tokens * 0.02) / 1e6
    const { usage } = await usageOf(bot)
    expect(usage).toEqual([expect.objectContaining({ model, calls: 2, inputTokens: tokens, outputTokens: 0 })])
    expect(usage[0].cost).toBeCloseTo(cost, 9)
    const { day, month } = await spentOf(bot)
    expect([day.tokens, month.tokens]).toEqual([tokens, tokens])
    expect(day.cost).toBeCloseTo(cost, 9)
  },
)

test(
  'a budget that is used up leaves searches by words and sends nothing; with a new budget the file gets its vectors',
  { timeout: 120_000 },
  async () => {
    const bot = await newBot()
    await setBudget({ dayTokens: 0 }, bot)
    const id = await upload(bot.headers, 'The staircase is closed on Sundays.')
    await expect
      .poll(async () => (await fileOf(id, bot.headers)).failedStatusReason, { timeout: 20_000 })
      .toBe(
        'Searches find the file by its words only. The bot has used up its budget of language models for the day in UTC',
      )
    expect(await search('staircase', bot.headers)).toHaveLength(1)
    expect(await search('Can I climb the steps?', bot.headers)).toEqual([])
    expect(endpoint.requests).toEqual([])
    expect((await spentOf(bot)).day.tokens).toBe(0)
    // It is tried for as long as it takes: its attempts do not run out.
    await platform.context.db('files').where({ id }).update({ embedding_attempts: 50, embedding_due_at: new Date() })
    const attempts = async () => (await platform.context.db('files').where({ id }).first())?.embedding_attempts
    await expect.poll(attempts, { timeout: 20_000 }).toBe(51)
    await setBudget({}, bot)
    await hurry(id)
    await embedded(id)
  },
)

test(
  'a workspace’s own key pays for its vectors, and its refusal is named at the file and delays no other workspace',
  { timeout: 120_000 },
  async () => {
    const [bot, other] = [await newBot(), await newBot()]
    const setKey = (key: string) => platform.ask('PUT', '/v1/admin/models/keys/openai', { key }, bot.member)
    expect((await setKey('sk-that-is-wrong')).status).toBe(200)
    const id = await upload(bot.headers, 'Lunch is served at noon.')
    await expect
      .poll(async () => (await fileOf(id, bot.headers)).failedStatusReason, { timeout: 20_000 })
      .toContain("The provider openai (401) refuses the workspace's own key")
    // The pause after the refusal is that of this key alone.
    await search('Where do I leave my vehicle?', bot.headers)
    const asked = endpoint.calls.length
    await search('Where do I leave my vehicle?', bot.headers)
    expect(endpoint.calls).toHaveLength(asked)
    await search('Where do I leave my vehicle?', other.headers)
    await embedded(await upload(other.headers, 'Automobiles must be parked behind the building.'))
    const keysOf = () => new Set(endpoint.calls.slice(asked).map(({ key }) => key))
    expect(keysOf()).toEqual(new Set([embeddingsKey]))
    expect(await usageOf(bot)).toMatchObject({ usage: [], failures: [{ model, kind: 'failed', status: 401 }] })
    expect((await spentOf(bot)).day.tokens).toBe(0)

    expect((await setKey(ownKey)).status).toBe(200)
    endpoint.calls.length = 0
    await hurry(id)
    await embedded(id)
    expect(endpoint.calls.map(({ key }) => key)).toEqual([ownKey])
    expect((await usageOf(bot)).usage).toMatchObject([{ model, calls: 1 }])
  },
)

test(
  'a number of tokens that the texts cannot have is estimated, and uses up no budget',
  { timeout: 60_000 },
  async () => {
    const bot = await newBot()
    for (const tokens of [9e15, 2 ** 32 - 1, -1, 0, 0.5]) {
      endpoint.tokens = tokens
      await search('Where do I leave my vehicle?', bot.headers)
    }
    endpoint.tokens = undefined
    // The question is estimated at 7 tokens.
    expect((await spentOf(bot)).day.tokens).toBe(5 * 7)
  },
)

test(
  'a failure of the provider gives the reservation back, and silence counts as what may be billed',
  { timeout: 60_000 },
  async () => {
    const bot = await newBot()
    endpoint.instead = 503
    try {
      expect(await search('Where do I leave my vehicle?', bot.headers)).toEqual([])
    } finally {
      endpoint.instead = undefined
    }
    expect(await usageOf(bot)).toMatchObject({ usage: [], failures: [{ model, kind: 'failed', status: 503 }] })
    expect((await spentOf(bot)).day.tokens).toBe(0)
    await platform.ask('PUT', '/v1/admin/models/keys/openai', { key: ownKey }, bot.member)
    endpoint.instead = 'silence'
    try {
      expect(await search('Where do I leave my vehicle?', bot.headers)).toEqual([])
    } finally {
      endpoint.instead = undefined
    }
    const { usage, failures } = await usageOf(bot)
    expect(usage).toMatchObject([{ model, calls: 1, inputTokens: 7 }])
    expect(failures).toContainEqual(expect.objectContaining({ model, kind: 'timeout' }))
  },
)
