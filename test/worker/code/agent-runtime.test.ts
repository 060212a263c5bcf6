import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { logOf } from '../../support/install-code.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { Turns } from '../../../worker/code/agent-runtime.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A bundle of the SDK that logs how many of its events run at the same time. */
const counting = (first: string) => `
  ${first}
  let inFlight = 0
  exports.handler = async (request) => {
    if (request.headers['x-bp-operation'] !== 'event_received') return {}
    if (JSON.parse(request.body).event.type !== 'message_created') return {}
    inFlight += 1
    console.info('together ' + inFlight + ' ' + process.env.AWS_LAMBDA_FUNCTION_NAME)
    await new Promise((resolve) => setTimeout(resolve, 300))
    inFlight -= 1
    return {}
  }`

/** As the published runtime of agents, by the tag that it writes. */
const agent = counting(`exports.tag = 'adkSyncTs'`)

/** Says something in three conversations at once, and returns what the bot logs. */
async function logOfThree(code: string): Promise<string[]> {
  const bot = await platform.createBot(code)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversations = await Promise.all([1, 2, 3].map(() => chatUser.createConversation()))
  await Promise.all(conversations.map((id) => chatUser.send(id, 'hello')))
  await endedEvents(platform, bot.id, 4)
  return (await logOf(platform, bot.id)).filter((line) => line.startsWith('info together'))
}

test('an agent of the published runtime has one event at a time, and finds itself deployed', async () => {
  expect(await logOfThree(agent)).toEqual([1, 2, 3].map(() => 'info together 1 isobot'))
})

test('other bundles of the SDK have their events at the same time', async () => {
  expect(await logOfThree(counting(''))).toContain('info together 3 undefined')
})

test('an agent has the heap that it needs, unless the bot has a limit of its own', async () => {
  const large = `exports.held = Array.from({ length: 10_000_000 }, (_, index) => index + 0.5)`
  await expect(platform.createBot(`${large}\n${counting('')}`)).rejects.toThrow(/memory|heap/)
  await expect(platform.createBot(`${large}\n${agent}`)).resolves.toHaveProperty('id')
  const limits = { memoryMegabytes: 64 }
  await expect(platform.createBot(`${large}\n${agent}\n// own`, { limits })).rejects.toThrow(/memory|heap/)
})

test('a bundle of the SDK is told how much time is left to it', async () => {
  const code = `
    exports.handler = async ({ headers }, context) => {
      if (headers['x-bp-operation'] !== 'event_received' || headers['x-bp-type'] !== 'message_created') return {}
      const before = context.getRemainingTimeInMillis()
      await new Promise((resolve) => setTimeout(resolve, 200))
      const after = context.getRemainingTimeInMillis()
      console.info(before <= 20_000, after > 0, before - after >= 190, context.memoryLimitInMB)
      return {}
    }`
  const { body } = await platform.ask('POST', '/v1/admin/bots', { code, limits: { wallMilliseconds: 20_000 } })
  const chatUser = await createChatUser(body.bot.integrations.chat.webhookUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  await expect.poll(() => logOf(platform, body.bot.id)).toEqual(['info true true true 64'])
})

test('an agent waits for values that its own action computes', async () => {
  const code = `
    exports.tag = 'adkSyncTs'
    const ask = async (path, body) =>
      (await fetch(process.env.BP_API_URL + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json()
    exports.handler = async ({ headers, body }) => {
      if (headers['x-bp-operation'] === 'action_triggered') {
        const { requests } = JSON.parse(body).input
        const rows = requests.map(({ row }) => ({ id: row.id, total: { status: 'computed', value: row.price * 2 } }))
        return { status: 200, body: JSON.stringify({ output: { isFinished: true, rows } }) }
      }
      if (headers['x-bp-operation'] !== 'event_received' || JSON.parse(body).event.type !== 'message_created') return {}
      const { rows } = await ask('/v1/tables/ordersTable/rows', { rows: [{ price: 2 }], waitComputed: true })
      console.info('total ' + rows[0].total)
      return {}
    }`
  const bot = await platform.createBot(code)
  const total = { type: 'number', 'x-zui': { computed: { action: 'code', dependencies: ['price'] } } }
  const table = {
    name: 'ordersTable',
    isComputeEnabled: true,
    schema: { type: 'object', properties: { price: { type: 'number' }, total } },
  }
  expect(await platform.ask('POST', '/v1/tables', table, { 'x-bot-id': bot.id })).toMatchObject({ status: 200 })
  const chatUser = await createChatUser(bot.chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  await expect.poll(() => logOf(platform, bot.id)).toEqual(['info total 4'])
})

test('only actions get a turn while all turns are lent, and others when none is held', async () => {
  const turns = new Turns()
  const began: string[] = []
  const take = async (name: string, isAction: boolean) => {
    const turn = await turns.take('agent', isAction)
    began.push(name)
    return turn
  }
  const first = await take('first', false)
  const second = take('second', false)
  const action = take('action', true)
  const other = take('other action', true)
  await setImmediate()
  expect(began).toEqual(['first'])
  const work = Promise.withResolvers<void>()
  const lent = first.lend(() => work.promise)
  const nested = await action
  await setImmediate()
  expect(began).toEqual(['first', 'action'])
  work.resolve()
  await lent
  first.end()
  await setImmediate()
  expect(began).toEqual(['first', 'action'])
  nested.end()
  const last = await second
  expect(began).toEqual(['first', 'action', 'second'])
  last.end()
  await other
})
