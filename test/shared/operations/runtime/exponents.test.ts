import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../../support/chat-client.ts'
import { endedEvents, replies } from '../../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { clientNames, openClients, type BotWithClients, type Call } from './clients.ts'

/** PostgreSQL writes each of these numbers with some 300 digits. */
const wide = (count: number) => Array<number>(count).fill(1e300)

let platform: Platform
let own: BotWithClients
beforeAll(async () => {
  platform = await openPlatform()
  own = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

describe.each(clientNames)('through %s', (clientName) => {
  const call: Call = (...given) => own.clients[clientName](...given)
  const tooManyDigits = { message: expect.stringMatching(/more .*digits without exponents/) as string }

  test('an event and the metadata of a file are refused when their numbers would be large where they are read', async () => {
    const event = (count: number) => call('createEvent', { type: 'wide', payload: { n: wide(count) } })
    await expect(event(4000)).rejects.toMatchObject(tooManyDigits)
    const file = { key: 'wide.txt', size: 1, metadata: { n: wide(4000) } }
    await expect(call('upsertFile', file)).rejects.toMatchObject(tooManyDigits)
    const { id } = (await event(3)).event
    expect((await call('getEvent', { id })).event.payload.n).toEqual(wide(3))
  })

  test('the numbers of a state count with all their digits', async () => {
    const state = { type: 'conversation', id: own.conversationId, name: 'wide' }
    expect((await call('setState', { ...state, payload: { n: wide(400) } })).state.payload.n).toEqual(wide(400))
    const refusal = { code: 413, type: 'LimitExceeded' }
    await expect(call('setState', { ...state, payload: { n: wide(500) } })).rejects.toMatchObject(refusal)
    await expect(call('patchState', { ...state, payload: { more: wide(100) } })).rejects.toMatchObject(refusal)
  })

  test('the numbers of a row count with all their digits', async () => {
    const schema = { type: 'object', properties: { n: { type: 'array', items: { type: 'number' } } } }
    const { table } = await call('createTable', { name: `wide${clientName.length}Table`, schema })
    const create = (count: number) => call('createTableRows', { table: table.id, rows: [{ n: wide(count) }] })
    expect((await create(12)).rows[0].n).toEqual(wide(12))
    expect(await create(14)).toMatchObject({ rows: [], errors: [expect.stringMatching(/more than the 4096 of a row/)] })
    const { bytes } = (await platform.context.db('table_rows').where({ table_id: table.id }).first('bytes'))!
    expect(bytes).toBeGreaterThan(12 * 300)
  })
})

test('the numbers of a call that code makes, and of the state that it leaves, count with all their digits', async () => {
  const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        event.state.user.n = Array(Number(event.preview)).fill(1e-300)
        const payload = { n: Array(Number(event.preview) * 10).fill(1e300) }
        const failure = await client.createEvent({ type: 'wide', payload }).then(() => 'none', ({ message }) => message)
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: failure } })
      },
    }`)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, '300')
  await chatUser.send(conversationId, '500')
  const tooManyDigits = expect.stringMatching(/more than 1 MB of digits without exponents/) as string
  await expect.poll(() => replies(platform, conversationId), { timeout: 10_000 }).toEqual(['none', tooManyDigits])
  const failures = (await endedEvents(platform, bot.id, 3)).map((event) => event.failure_reason)
  expect(failures).toContainEqual(expect.stringMatching(/event.state.user has \d+ KB, more than its maximum/))
  expect(failures.filter((reason) => reason !== null)).toHaveLength(1)
})
