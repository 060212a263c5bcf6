import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { endedEvents, eventsAtEnd, replies } from '../../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

/** The api and the worker of the tests have one pool, of three connections. */
let platform: Platform
let holder: Client
beforeEach(async () => {
  platform = await openPlatform({ backEnd: 'postgres' })
  holder = new Client({ connectionString: platform.context.config.database.url })
  await holder.connect()
})
afterEach(async () => {
  await holder.end()
  await platform[Symbol.asyncDispose]()
})

const patience = { timeout: 20_000, interval: 20 }

const reply = (text: string) =>
  `await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: ${text} } })`
const hook = (code: string, actions = '') => `
  export const actions = { ${actions} }
  export const hooks = { async afterIncomingMessage({ event, client }) { ${code} } }`

const asBot = (bot: DeployedBot) => ({ 'x-bot-id': bot.id })

/** A bot with a table that is locked until `release`. */
async function withLockedTable(code: string): Promise<DeployedBot> {
  const bot = await platform.createBot(hook(code))
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const made = await platform.ask('POST', '/v1/tables', { name: 'longTable', schema }, asBot(bot))
  expect(made.status).toBe(200)
  await holder.query('begin; lock table table_rows in access exclusive mode')
  return bot
}

const release = () => holder.query('rollback')

/** Waits until a statement on the locked table is in progress. */
const untilHeld = () =>
  vi.waitFor(async () => {
    const { rows } = await holder.query(`select from pg_locks where relation = 'table_rows'::regclass and not granted`)
    expect(rows.length).toBeGreaterThan(0)
  }, patience)

async function talk(bot: DeployedBot, text: string) {
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, text)
  return {
    conversationId,
    replied: () => vi.waitFor(async () => expect(await replies(platform, conversationId)).toHaveLength(1), patience),
  }
}

test('slow queries of one bot over HTTP leave requests and replies of others prompt', async () => {
  const slow = await withLockedTable('')
  const other = await platform.createBot(hook(reply(`'here'`)))
  let answered = 0
  const queries = Array.from({ length: 24 }, async () => {
    const { status } = await platform.ask('POST', '/v1/tables/longTable/rows/find', {}, asBot(slow))
    answered += 1
    return status
  })
  await untilHeld()
  const { replied } = await talk(other, 'hello')
  await replied()
  expect(answered).toBeLessThan(24)
  await release()
  await Promise.all(queries)
  const { status } = await platform.ask('POST', '/v1/tables/longTable/rows/find', {}, asBot(slow))
  expect(status).toBe(200)
})

test('slow queries of the code of one bot leave replies of others prompt', async () => {
  const query = `client.findTableRows({ table: 'longTable' })`
  const slow = await withLockedTable(
    `await Promise.allSettled(Array.from({ length: 32 }, () => ${query})); await ${query}; ${reply(`'over'`)}`,
  )
  const other = await platform.createBot(hook(reply(`'here'`)))
  const slowOnes = await Promise.all(Array.from({ length: 3 }, () => talk(slow, 'go')))
  await untilHeld()
  const { replied } = await talk(other, 'hello')
  await replied()
  expect(await eventsAtEnd(platform, slow.id)).toEqual([])
  await release()
  for (const { replied } of slowOnes) await replied()
})

test('actions that actions call, more than connections, do not wait for each other', async () => {
  const state = `client.getOrSetState({ type: 'conversation', id: event.conversationId, name: 'count', payload: {} })`
  const actions = `
    async outer({ client }) {
      const found = await client.listConversations({})
      await Promise.all([1, 2, 3].map(() => client.callAction({ type: 'inner', input: {} })))
      return { found: found.conversations.length }
    },
    async inner({ client }) {
      await client.findTableRows({ table: 'smallTable' })
      await client.listConversations({})
      return {}
    },`
  const code = `
    await ${state}
    const calls = Array.from({ length: 8 }, () => client.callAction({ type: 'outer', input: {} }))
    await Promise.all(calls)
    ${reply(`'done'`)}`
  const bot = await platform.createBot(hook(code, actions))
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  await platform.ask('POST', '/v1/tables', { name: 'smallTable', schema }, asBot(bot))
  const talks = await Promise.all(Array.from({ length: 3 }, () => talk(bot, 'go')))
  for (const { replied } of talks) await replied()
  expect((await endedEvents(platform, bot.id, 3)).map(({ status }) => status)).not.toContain('failed')
})
