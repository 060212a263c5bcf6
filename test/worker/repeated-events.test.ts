import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { openPlatform, type Platform } from '../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** The calls of a hook, before it throws in its first run. It logs their results. */
const cases = {
  'a message': `
    const { message } = await client.createMessage({ conversationId, type: 'text', payload: { text: 'thinking' } })
    await client.deleteMessage({ id: message.id })
    return [message.id, message.payload]`,
  'the owner of a state': `
    const { user } = await client.createUser({ name: 'Ann' })
    const { state } = await client.setState({ type: 'user', id: user.id, name: 'mood', payload: { a: 1 } })
    await client.deleteUser({ id: user.id })
    return [user, state]`,
  'the user of an event': `
    const { user } = await client.createUser({ name: 'Ann' })
    const { event } = await client.createEvent({ type: 'later', payload: {}, userId: user.id })
    await client.deleteUser({ id: user.id })
    return [user, event]`,
  'the conversation of a flow': `
    const { conversation } = await client.createConversation({ channel: 'channel' })
    const { event } = await client.startFlow({ conversationId: conversation.id, flow: 'survey' })
    await client.deleteConversation({ id: conversation.id })
    return [conversation, event]`,
  'a table with computed values': `
    const { table } = await client.createTable({ name: 'sumsTable', schema: { type: 'object', properties: {
      price: { type: 'number' },
      total: { type: 'number', 'x-zui': { computed: { action: 'code', dependencies: ['price'] } } },
    } } })
    const { rows } = await client.createTableRows({ table: table.id, rows: [{ price: 3 }], waitComputed: true })
    await client.deleteTable({ table: table.id })
    return [table, rows.map(({ id, price }) => ({ id, price }))]`,
}

const code = `
  export const retry = { attempts: 3, backoff: 10 }
  const runs = {}
  const cases = {
    ${Object.entries(cases)
      .map(([name, body]) => `async '${name}'(client, conversationId) {${body}\n}`)
      .join(',')}
  }
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId, preview } = event
      console.log(JSON.stringify(await cases[preview](client, conversationId)))
      runs[preview] = (runs[preview] ?? 0) + 1
      if (runs[preview] === 1) throw new Error('once')
    },
  }
  export const actions = {
    tablesRecomputeRows({ input }) {
      const rows = input.requests.map(({ row }) => ({ id: row.id, total: { status: 'computed', value: row.price * 2 } }))
      return { isFinished: true, rows }
    },
  }`

const flows = [
  {
    id: 'survey',
    start: 'first',
    nodes: [{ id: 'first', cards: [{ id: 'a', type: 'capture', message: 'Yes?', variable: 'temp.a' }] }],
  },
]

test.each(Object.keys(cases))(
  'an event whose first run has made and deleted %s is processed by the second run, which sees the same',
  async (name) => {
    const { db } = platform.context
    const bot = await platform.createBot(code, { flows })
    const user = await createChatUser(bot.chatUrl)
    const conversationId = await user.createConversation()
    await user.send(conversationId, name)
    const handled = () =>
      db('events').where({ bot_id: bot.id, type: 'message_created' }).whereNotNull('ended_at').first()
    await expect.poll(handled, { timeout: 30_000 }).toMatchObject({ status: 'processed', attempt: 2 })
    const seen = await db('logs').where({ bot_id: bot.id, level: 'info' }).orderBy('id').pluck('message')
    expect(seen).toHaveLength(2)
    expect(seen[1]).toBe(seen[0])
  },
)

test('a call of a run after the deletion of its event, with its conversation, is refused, and the error says so', async () => {
  const bot = await platform.createBot(`
    let refused
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        const { conversationId, preview } = event
        if (preview === 'forget me') {
          await client.deleteConversation({ id: conversationId })
          await client.createUser({ name: 'Ann' }).catch((error) => (refused = error.message))
        } else await client.createMessage({ conversationId, type: 'text', payload: { text: String(refused) } })
      },
    }`)
  const user = await createChatUser(bot.chatUrl)
  await user.send(await user.createConversation(), 'forget me')
  const conversationId = await user.createConversation()
  // The two conversations are handled side by side.
  const answers = async () => {
    await user.send(conversationId, 'why?')
    return (await user.messages(conversationId)).map(({ text }) => text)
  }
  await expect
    .poll(answers, { interval: 200 })
    .toContain('The event of this run was deleted: this run may no longer write')
  expect(await platform.context.db('users').where({ bot_id: bot.id, name: 'Ann' })).toEqual([])
})
