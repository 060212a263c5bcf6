import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { complete, startEndpoint, type ScriptedEndpoint } from '../../support/models.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { Processes } from '../../support/processes.ts'

const patience = { timeout: 10_000 }
const processes = new Processes()
let endpoint: ScriptedEndpoint
let platform: Platform
let waiting: ServerResponse[]
/** The most calls that the endpoint had in flight. */
let most: number
beforeAll(async () => {
  endpoint = await startEndpoint()
  platform = await openPlatform({ worker: false, environment: endpoint.environment })
})
afterEach(() => processes.stop())
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await endpoint[Symbol.asyncDispose]()
})

/** Starts two processes that share so many slots. The endpoint answers when the test says so. */
async function startTwo(slots: number) {
  waiting = []
  most = 0
  endpoint.script = (response) => {
    waiting.push(response)
    response.once('close', () => (waiting = waiting.filter((one) => one !== response)))
    most = Math.max(most, waiting.length)
  }
  const start = async () => {
    const port = await freePort()
    const child = await processes.start(platform, 'api', {
      PORT: String(port),
      MODELS_CONCURRENCY_TOTAL: String(slots),
    })
    const url = `http://127.0.0.1:${port}`
    const health = () => fetch(`${url}/healthz`).catch(() => ({ status: 0 }))
    await expect.poll(health, { timeout: 30_000 }).toMatchObject({ status: 200 })
    return { pid: child.pid, url }
  }
  return Promise.all([start(), start()])
}

async function ask(url: string, botId: string): Promise<number> {
  const response = await fetch(`${url}/v2/cognitive/generate-text`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.token}`, 'x-bot-id': botId, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  return response.status
}

test('two processes have no more calls in flight than the operator says', { timeout: 60_000 }, async () => {
  const [one, other] = await startTwo(4)
  const bots = [await platform.createBot(), await platform.createBot()]
  const asked = [one, other].flatMap(({ url }) => bots.flatMap(({ id }) => [1, 2, 3].map(() => ask(url, id))))
  await expect.poll(() => waiting.length, patience).toBe(4)
  for (let left = asked.length; left > 0; left--) {
    await expect.poll(() => waiting.length, patience).toBeGreaterThan(0)
    complete(waiting.shift()!, { content: 'ok' })
  }
  expect(await Promise.all(asked)).toEqual(asked.map(() => 200))
  expect(most).toBe(4)
})

test('one bot leaves slots to the others', { timeout: 60_000 }, async () => {
  const [one, other] = await startTwo(4)
  const [greedy, modest] = [await platform.createBot(), await platform.createBot()]
  const asked = [1, 2, 3, 4].map(() => ask(one.url, greedy.id))
  await expect.poll(() => waiting.length, patience).toBe(2)
  const answered = ask(other.url, modest.id)
  await expect.poll(() => waiting.length, patience).toBe(3)
  complete(waiting[2]!, { content: 'ok' })
  expect(await answered).toBe(200)
  endpoint.script = (response) => complete(response, { content: 'ok' })
  for (const response of waiting) complete(response, { content: 'ok' })
  expect(await Promise.all(asked)).toEqual([200, 200, 200, 200])
})

test('a crash of PostgreSQL, which empties the table, leaves no call without a slot', { timeout: 60_000 }, async () => {
  const [one] = await startTwo(2)
  endpoint.script = (response) => complete(response, { content: 'ok' })
  const { id } = await platform.createBot()
  expect(await ask(one.url, id)).toBe(200)
  await platform.context.db('model_slots').truncate()
  expect(await ask(one.url, id)).toBe(200)
})

test(
  'the slots of a process that is killed are free again after the time of a lease',
  { timeout: 60_000 },
  async () => {
    const [victim, other] = await startTwo(2)
    const lost = await Promise.all([platform.createBot(), platform.createBot()])
    for (const { id } of lost) ask(victim.url, id).catch(() => {})
    await expect.poll(() => waiting.length, patience).toBe(2)
    const { id } = await platform.createBot()
    const answered = ask(other.url, id)
    process.kill(victim.pid, 'SIGKILL')
    await expect.poll(() => waiting.length, patience).toBe(0)
    endpoint.script = (response) => complete(response, { content: 'ok' })
    expect(await answered).toBe(200)
  },
)
