import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { deleteOldUsage, releaseLostReservations, reserveUsage, settleUsage } from '#shared/store/model-budgets.ts'
import { countLockWaits } from '../../../support/databases.ts'
import { createMember } from '../../../support/members.ts'
import {
  answerWith,
  complete,
  keys,
  ScriptedStream,
  startEndpoint,
  type ScriptedEndpoint,
} from '../../../support/models.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let endpoint: ScriptedEndpoint
/** The endpoint of the provider `openai`. */
let hosted: ScriptedEndpoint
let platform: Platform
let botId: string
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  hosted = parts.use(await startEndpoint())
  const environment = {
    ...endpoint.environment,
    OPENAI_API_KEY: keys.openai,
    OPENAI_BASE_URL: `${hosted.url}/v1`,
    MODELS_AUTO: 'local:small',
  }
  platform = parts.use(await openPlatform({ worker: false, environment }))
})
beforeEach(async () => {
  endpoint.requests.length = 0
  endpoint.script = (response) =>
    complete(response, { content: 'ok', usage: { prompt_tokens: 60, completion_tokens: 40 } })
  hosted.script = (response) =>
    complete(response, { content: 'hello', usage: { prompt_tokens: 1_000_000, completion_tokens: 100_000 } })
  botId = (await platform.createBot()).id
})
afterAll(() => parts.disposeAsync())

const generate = (fields: object = {}, id = botId) =>
  platform.ask(
    'POST',
    '/v2/cognitive/generate-text',
    { messages: [{ role: 'user', content: 'hi' }], maxTokens: 90, ...fields },
    { 'x-bot-id': id },
  )
/** Reads a streamed answer to its end. */
async function stream(fields: object): Promise<void> {
  const response = await fetch(`${platform.url}/v2/cognitive/generate-text-stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.token}`, 'x-bot-id': botId, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...fields }),
  })
  await response.text()
}
const setBudget = (budget: object, id?: string) =>
  platform.ask('PUT', '/v1/admin/models/budget', { budget, ...(id && { botId: id }) })
const budgetOf = async (id?: string) =>
  (await platform.ask('GET', `/v1/admin/models/budget${id ? `?botId=${id}` : ''}`)).body

describe('a budget', () => {
  test(
    'of tokens is exceeded by one reservation at most, by 100 calls at once; then nothing is sent',
    { timeout: 30_000 },
    async () => {
      await setBudget({ dayTokens: 1000 }, botId)
      const answers = await Promise.all(Array.from({ length: 100 }, () => generate()))
      const counted = Map.groupBy(answers, ({ status }) => status)
      expect(new Set(counted.keys())).toEqual(new Set([200, 402]))
      const { spent } = await budgetOf(botId)
      expect(spent.day.tokens).toBe(counted.get(200)!.length * 100)
      // A call reserves 90 tokens for its answer, and some for its question.
      expect(spent.day.tokens).toBeLessThan(1000 + 120)
      expect(endpoint.requests).toHaveLength(counted.get(200)!.length)
      expect(counted.get(402)![0]!.body).toMatchObject({
        type: 'PaymentRequired',
        metadata: { subtype: 'MODEL_BUDGET_EXCEEDED', budget: 'bot', period: 'day', unit: 'tokens', limit: 1000 },
      })

      while ((await generate()).status === 200);
      const sent = endpoint.requests.length
      expect((await generate()).status).toBe(402)
      expect(endpoint.requests).toHaveLength(sent)
      await setBudget({}, botId)
      expect((await generate()).status).toBe(200)
    },
  )

  test('of money counts by the prices of the models', async () => {
    await setBudget({ monthDollars: 1 }, botId)
    const { body } = await generate({ model: 'openai:gpt-4.1' })
    // A million tokens at 2 dollars, and 100,000 at 8 dollars for a million.
    expect(body.metadata.cost).toBeCloseTo(2.8, 6)
    const refused = await generate({ model: 'openai:gpt-4.1' })
    expect(refused).toMatchObject({ status: 402, body: { metadata: { period: 'month', unit: 'dollars' } } })
    expect(refused.body.message).toContain('$2.80 of $1.00')
  })

  test('of a workspace is that of all its bots', async () => {
    const other = (await platform.createBot()).id
    await generate()
    const { spent } = await budgetOf()
    await setBudget({ monthTokens: spent.month.tokens })
    const answers = await Promise.all([generate(), generate({}, other)])
    expect(answers.map(({ status, body }) => [status, body.metadata.budget])).toEqual([
      [402, 'workspace'],
      [402, 'workspace'],
    ])
    await setBudget({})
    expect((await generate({}, other)).status).toBe(200)
  })

  test('of the operator bounds each workspace, whose own may be larger', async () => {
    const { db } = platform.context
    await setBudget({ dayTokens: 1e9 })
    const options = { operatorBudget: { monthTokens: 0 }, milliseconds: 1000 }
    await expect(reserveUsage(db, botId, { tokens: 1, cost: 0 }, options)).rejects.toMatchObject({
      owner: 'workspace',
      period: 'month',
      limit: 0,
    })
    await setBudget({})
    expect((await budgetOf(botId)).spent.month).toEqual({ tokens: 0, cost: 0 })
  })

  test('gets back what was reserved for a call that failed, and keeps it for one that may be billed', async () => {
    endpoint.script = (response) => answerWith(response, 500, '{}')
    expect((await generate()).status).toBe(400)
    expect((await budgetOf(botId)).spent.day.tokens).toBe(0)
    endpoint.script = (response) => answerWith(response, 200, 'no answer')
    expect((await generate()).status).toBe(400)
    expect((await budgetOf(botId)).spent.day.tokens).toBeGreaterThanOrEqual(90)
  })
})

const figures = (prompt_tokens: unknown, completion_tokens: unknown) => ({ prompt_tokens, completion_tokens })

describe('a call whose provider counts wrongly', () => {
  const wrong: [string, object][] = [
    ['no token', figures(0, 0)],
    ['no figures', {}],
    ['null', figures(null, null)],
    ['less than none', figures(-1, -1)],
    ['less than none, as a number without a sign', figures(2 ** 32 - 1, 2 ** 32 - 1)],
    ['more than there are', figures(1e15, 1e15)],
  ]
  test.each(wrong)('counts by estimate: %s', async (_name, usage) => {
    // 400 characters are 100 tokens.
    const content = 'x'.repeat(400)
    endpoint.script = (response, { body }) => {
      if (!body.stream) return complete(response, { content, usage: usage as never })
      const streamed = new ScriptedStream(response)
      streamed.write(content)
      streamed.end('stop', usage)
    }
    const { status, body } = await generate()
    expect(status).toBe(200)
    expect(body.metadata.usage.outputTokens).toBe(100)
    const { inputTokens } = body.metadata.usage
    expect(inputTokens).toBeGreaterThan(5)
    expect(inputTokens).toBeLessThan(100)
    expect(body.metadata.warnings).toEqual([expect.objectContaining({ message: expect.stringContaining('estimated') })])
    await stream({})
    await expect.poll(async () => (await budgetOf(botId)).spent.day.tokens).toBe(2 * (100 + inputTokens))
  })

  test('counts the calls of tools that the model writes', async () => {
    const call = {
      id: '1',
      type: 'function',
      function: { name: 'find', arguments: JSON.stringify({ a: 'x'.repeat(392) }) },
    }
    endpoint.script = (response) => complete(response, { tool_calls: [call], usage: null })
    const { body } = await generate({ tools: [{ name: 'find' }] })
    expect(body.metadata.usage.outputTokens).toBe(101)
  })
})

test('two statements come before the request to the provider: the caller is found, and the usage reserved', async () => {
  await generate()
  const statements = vi.spyOn(Client.prototype, 'query')
  try {
    let before = 0
    endpoint.script = (response) => {
      before = statements.mock.calls.length
      complete(response, { content: 'ok', usage: { prompt_tokens: 60, completion_tokens: 40 } })
    }
    expect((await generate()).status).toBe(200)
    const texts = statements.mock.calls.slice(0, before).map(([statement]) => JSON.stringify(statement))
    const ofCall = texts.filter((text) => /token|model|begin|commit/i.test(text))
    expect(ofCall).toEqual([expect.stringContaining('from tokens'), expect.stringContaining('reserve_model_usage')])
  } finally {
    statements.mockRestore()
  }
})

test('an attempt that may be billed counts against the budget, also when the next one or another model answers', async () => {
  const reply = { content: 'ok', usage: { prompt_tokens: 60, completion_tokens: 40 } }
  // The endpoint closes the stream before its first text; then it answers.
  endpoint.script = (response, { body }) => {
    const written = new ScriptedStream(response)
    if (body.model === 'large' || endpoint.requests.length > 1) {
      written.write('ok')
      written.end('stop', { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 })
    } else written.destroy()
  }
  await stream({ maxTokens: 90 })
  const twice = (await budgetOf(botId)).spent.day.tokens
  expect(twice).toBeGreaterThanOrEqual(100 + 90)

  endpoint.script = (response, { body }) =>
    body.model === 'small' ? answerWith(response, 200, 'no answer') : complete(response, reply)
  expect((await generate({ model: ['local:small', 'local:large'] })).status).toBe(200)
  expect((await budgetOf(botId)).spent.day.tokens).toBeGreaterThanOrEqual(twice + 100 + 90)
  const { body } = await platform.ask('GET', `/v1/admin/models/usage?botId=${botId}`)
  const calls = body.usage.map(({ model, calls }: { model: string; calls: number }) => [model, calls])
  expect(Object.fromEntries(calls)).toEqual({ 'local:small': 3, 'local:large': 1 })
})

test('a failed call of several models is charged to each of them, and its failures are counted by their cause', async () => {
  endpoint.script = (response, { body }) =>
    body.model === 'small'
      ? answerWith(response, 200, 'no answer')
      : answerWith(response, 429, '{}', { 'retry-after': '60' })
  expect((await generate({ model: ['local:small', 'local:large'] })).status).toBe(400)
  endpoint.script = (response) => answerWith(response, 200, 'no answer')
  expect((await generate({ model: ['local:small', 'local:large'] })).status).toBe(400)
  const { body } = await platform.ask('GET', `/v1/admin/models/usage?botId=${botId}`)
  const day = new Date().toISOString().slice(0, 10)
  const calls = body.usage.map(({ model, calls }: { model: string; calls: number }) => [model, calls])
  expect(Object.fromEntries(calls)).toEqual({ 'local:small': 2, 'local:large': 1 })
  expect(body.failures).toEqual([
    { botId, day, model: 'local:small', kind: 'malformed', status: 200, failures: 2 },
    { botId, day, model: 'local:large', kind: 'limited', status: 429, failures: 1 },
    { botId, day, model: 'local:large', kind: 'malformed', status: 200, failures: 1 },
  ])
})

test('a reservation that is never settled is released when its call can no longer be in flight; a late settlement is added', async () => {
  const { db } = platform.context
  const spent = async () => (await budgetOf(botId)).spent.day
  const reserve = (milliseconds: number) =>
    reserveUsage(db, botId, { tokens: 100, cost: 1 }, { operatorBudget: {}, milliseconds })
  const lost = await reserve(-1)
  const inFlight = await reserve(60_000)
  expect(await spent()).toEqual({ tokens: 200, cost: 2 })
  expect(await releaseLostReservations(db, 10)).toBe(1)
  expect(await spent()).toEqual({ tokens: 100, cost: 1 })
  const usages = [{ model: 'local:small', calls: 1, inputTokens: 5, outputTokens: 5, cost: 0.5 }]
  await settleUsage(db, lost, { usages, failures: [] })
  expect(await spent()).toEqual({ tokens: 110, cost: 1.5 })
  await settleUsage(db, inFlight, { usages, failures: [] })
  expect(await spent()).toEqual({ tokens: 20, cost: 1 })
  expect(await db('model_reservations').where({ bot_id: botId })).toEqual([])
})

test('the workspace gets back what was reserved for calls of a bot that is deleted meanwhile', async () => {
  const { db } = platform.context
  const reserve = (milliseconds: number) =>
    reserveUsage(db, botId, { tokens: 100, cost: 1 }, { operatorBudget: {}, milliseconds })
  const { tokens: before } = (await budgetOf()).spent.month
  const settled = await reserve(60_000)
  await reserve(-1)
  expect(await platform.ask('DELETE', `/v1/admin/bots/${botId}`)).toMatchObject({ status: 200 })
  expect((await budgetOf()).spent.month.tokens).toBe(before + 200)
  const usages = [{ model: 'local:small', calls: 1, inputTokens: 5, outputTokens: 5, cost: 0.5 }]
  await settleUsage(db, settled, { usages, failures: [] })
  await releaseLostReservations(db, 10)
  expect((await budgetOf()).spent.month.tokens).toBe(before + 10)
})

test('a call is settled although its bot is deleted at that moment', async () => {
  const { db } = platform.context
  const reserved = await reserveUsage(db, botId, { tokens: 100, cost: 1 }, { operatorBudget: {}, milliseconds: 60_000 })
  const { tokens: before } = (await budgetOf()).spent.month
  const deletion = await db.transaction()
  await deletion('bots').where({ id: botId }).delete()
  const usages = [{ model: 'local:small', calls: 1, inputTokens: 5, outputTokens: 5, cost: 0.5 }]
  const failures = [{ model: 'local:small', kind: 'busy' as const, status: 503, failures: 1 }]
  const settling = settleUsage(db, reserved, { usages, failures })
  await expect.poll(() => countLockWaits(db)).toBe(1)
  await deletion.commit()
  await settling
  expect((await budgetOf()).spent.month.tokens).toBe(before - 90)
})

test('usage is deleted after the days that the operator keeps it', async () => {
  const { db } = platform.context
  await generate()
  const days = async () => (await db('model_usage').where({ bot_id: botId })).length
  for (const table of ['model_usage', 'model_spending']) {
    const day = table === 'model_usage' ? 'day' : 'start'
    await db.raw(
      `insert into ${table} select (jsonb_populate_record(rows, jsonb_build_object('${day}', '2020-01-01'))).* from ${table} rows limit 1`,
    )
  }
  expect(await days()).toBeGreaterThan(0)
  while (await deleteOldUsage(db, 400 * 24 * 3600 * 1000, 1));
  expect(await db('model_usage').where('day', '<', '2021-01-01')).toEqual([])
  expect(await db('model_spending').where('start', '<', '2021-01-01')).toEqual([])
  expect(await days()).toBe(1)
})

test('the hidden reasoning of a stream that breaks off after its first text is estimated by the time before it', async () => {
  endpoint.script = (response) => {
    const written = new ScriptedStream(response)
    setTimeout(() => {
      written.write('begin')
      setTimeout(() => written.destroy(), 50)
    }, 1400)
  }
  await stream({ maxTokens: 500 })
  const { body } = await platform.ask('GET', `/v1/admin/models/usage?botId=${botId}`)
  // 400 ms at 100 tokens a second, and two tokens of text.
  expect(body.usage[0].outputTokens).toBeGreaterThanOrEqual(40)
  expect(body.usage[0].outputTokens).toBeLessThanOrEqual(500)
})

const used = (calls: number) => ({ calls, inputTokens: 60 * calls, outputTokens: 40 * calls, cost: 0 })

test('the usage is listed by day, bot and model, for the workspace only', async () => {
  await generate()
  await generate({ model: 'local:large' })
  await generate({ model: 'local:large' })
  const list = (headers = {}) => platform.ask('GET', `/v1/admin/models/usage?botId=${botId}`, undefined, headers)
  const day = new Date().toISOString().slice(0, 10)
  expect((await list()).body.usage).toEqual([
    { botId, day, model: 'local:large', ...used(2) },
    { botId, day, model: 'local:small', ...used(1) },
  ])
  const theirs = await createMember(platform, 'owner')
  expect((await list(theirs)).body.usage).toEqual([])
  const path = `/v1/admin/models/budget?botId=${botId}`
  expect((await platform.ask('GET', path, undefined, theirs)).status).toBe(404)
  const set = await platform.ask('PUT', '/v1/admin/models/budget', { botId, budget: { dayTokens: 0 } }, theirs)
  expect(set.status).toBe(404)
  expect((await platform.ask('GET', '/v1/admin/models/usage?from=2026-02-30')).status).toBe(400)
})

test('a deleted bot leaves no usage', async () => {
  await setBudget({ dayTokens: 1000 }, botId)
  await generate()
  await platform.ask('DELETE', `/v1/admin/bots/${botId}`)
  const { db } = platform.context
  for (const table of ['model_usage', 'model_budgets', 'model_spending']) {
    expect(await db(table).where({ bot_id: botId })).toEqual([])
  }
})

const own = 'sk-own-0123456789'
const set = (provider: string, key: string, headers = {}) =>
  platform.ask('PUT', `/v1/admin/models/keys/${provider}`, { key }, headers)
const keyOfLastRequest = () => hosted.requests.at(-1)?.headers.authorization

describe('a workspace’s own key', () => {
  test('takes the place of the operator’s, also where the operator has none, within the same budgets', async () => {
    const theirs = await createMember(platform, 'owner')
    const { body } = await platform.ask('POST', '/v1/admin/bots', {}, theirs)
    const ask = (fields = {}) =>
      platform.ask(
        'POST',
        '/v2/cognitive/generate-text',
        { model: 'openai:gpt-5', messages: [{ role: 'user', content: 'hi' }], ...fields },
        { ...theirs, 'x-bot-id': body.bot.id },
      )
    expect((await ask()).status).toBe(200)
    expect(keyOfLastRequest()).toBe(`Bearer ${keys.openai}`)
    expect((await set('openai', own, theirs)).status).toBe(200)
    expect((await ask()).body.output).toBe('hello')
    expect(keyOfLastRequest()).toBe(`Bearer ${own}`)
    expect((await generate({ model: 'openai:gpt-5' })).status).toBe(200)
    expect(keyOfLastRequest()).toBe(`Bearer ${keys.openai}`)
    hosted.script = (response) => {
      const stream = new ScriptedStream(response)
      stream.write('hello')
      stream.end()
    }
    const streamed = await fetch(`${platform.url}/v2/cognitive/generate-text-stream`, {
      method: 'POST',
      headers: { ...theirs, 'x-bot-id': body.bot.id, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai:gpt-5', messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(await streamed.text()).toContain('"finished":true')
    expect(keyOfLastRequest()).toBe(`Bearer ${own}`)

    await platform.ask('PUT', '/v1/admin/models/budget', { budget: { dayTokens: 1 } }, theirs)
    expect((await ask()).status).toBe(402)
    await platform.ask('PUT', '/v1/admin/models/budget', { budget: {} }, theirs)
    expect((await platform.ask('DELETE', '/v1/admin/models/keys/openai', undefined, theirs)).status).toBe(200)
    await ask()
    expect(keyOfLastRequest()).toBe(`Bearer ${keys.openai}`)
  })

  test('is set by administrators, stored encrypted for its workspace and provider, and never shown again', async () => {
    const { context } = platform
    const developer = await createMember(platform, 'developer', platform.workspaceId)
    expect((await set('openai', own, developer)).status).toBe(403)
    expect((await set('openai', own)).body).toEqual({})
    const [listed] = (await platform.ask('GET', '/v1/admin/models/keys', undefined, developer)).body.keys
    expect(listed).toEqual({ provider: 'openai', setAt: expect.any(String), setBy: expect.any(String) })
    const row = await context.db('model_keys').where({ workspace_id: platform.workspaceId }).first()
    expect(JSON.stringify(row)).not.toContain(own)
    const audit = await platform.ask('GET', '/v1/admin/workspaces/' + platform.workspaceId + '/audit-records')
    expect(audit.body.records[0]).toMatchObject({ operation: 'setModelKey' })
    expect(JSON.stringify(audit.body)).not.toContain(own)
    // A row that was copied to another provider is of no use there.
    await context.db('model_keys').insert({ ...row!, id: 'copy', provider: 'anthropic' })
    expect((await generate()).status).toBe(500)
    await context.db('model_keys').delete()
    expect((await platform.ask('DELETE', '/v1/admin/models/keys/openai')).status).toBe(404)
    expect((await set('ollama', own)).status).toBe(400)
    expect((await set('openai', 'two words')).status).toBe(400)
  })

  test('that the provider refuses is named as such, without its text', async () => {
    const wrong = 'sk-wrong-0123456789'
    await set('openai', wrong)
    hosted.script = (response) =>
      answerWith(response, 401, JSON.stringify({ error: { message: `Incorrect API key: ${wrong}` } }))
    const { body } = await generate({ model: 'openai:gpt-5' })
    await platform.ask('DELETE', '/v1/admin/models/keys/openai')
    expect(body.message).toContain("refuses (401) the workspace's own key")
    expect(JSON.stringify(body)).not.toContain(wrong)
  })
})
