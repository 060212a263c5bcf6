import { AuthenticatedClient, Client, type Signals } from '@botpress/chat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { replies } from '../../../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { openFixture, type Fixture } from './fixture.ts'
import { errorObject, time } from './wire.ts'
import { flat, invalid, valid } from './variants.ts'

/** Tells what it was given, as a text. */
const reporterBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const text = JSON.stringify({ type: event.type, payload: event.payload })
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
    },
    async afterIncomingEvent({ event, client }) {
      const text = JSON.stringify({ type: event.type, payload: event.payload })
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
    },
  }
`

let platform: Platform
let fixture: Fixture
let client: AuthenticatedClient
beforeAll(async () => {
  platform = await openPlatform()
  fixture = await openFixture(platform, reporterBot)
  client = await Client.connect({ apiUrl: fixture.bot.chatUrl, userKey: fixture.owner.key })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A conversation of the test's own, and what the published client hears in it. */
async function listen() {
  const { conversation } = await client.createConversation({})
  const listener = await client.listenConversation({ id: conversation.id })
  const heard: Signals['message_created'][] = []
  listener.on('message_created', (signal) => heard.push(signal))
  return { conversationId: conversation.id, heard, [Symbol.asyncDispose]: () => listener.disconnect() }
}

/** The payload that the bot received in a conversation, once it is there. */
async function told(conversationId: string): Promise<unknown> {
  let said: string[] = []
  await expect.poll(async () => (said = await replies(platform, conversationId)), { timeout: 10_000 }).toHaveLength(1)
  return JSON.parse(said[0]!)
}

describe('a payload that a client sends', () => {
  test.each(valid)('of type $type is answered, received and listed as it was sent: %j', async (payload) => {
    await using listening = await listen()
    const { conversationId, heard } = listening
    const { status, body } = await fixture.ask('owner', 'createMessage', { conversationId, payload })
    const message = { id: expect.any(String), createdAt: time, conversationId, userId: 'owner', payload }
    expect({ status, body }).toEqual({ status: 201, body: { message } })
    expect((await fixture.ask('owner', 'getMessage', { id: body.message.id })).body).toEqual(body)
    await expect.poll(() => heard[0]).toEqual({ ...body.message, isBot: false })
    const { messages } = (await fixture.ask('owner', 'listMessages', { conversationId })).body
    expect(messages).toContainEqual(body.message)
  })

  test.each(valid.filter(({ type }) => type !== 'bloc'))('of type $type reaches the bot: %j', async (payload) => {
    const conversationId = await fixture.owner.createConversation()
    await fixture.ask('owner', 'createMessage', { conversationId, payload })
    expect(await told(conversationId)).toEqual({ type: 'message_created', payload })
  })

  test('of a choice is answered and listed with its value, and reaches the bot with it', async () => {
    await using listening = await listen()
    const { conversationId, heard } = listening
    const payload = { type: 'text', text: 'Yes', value: 'yes' } as const
    const { message } = await client.createMessage({ conversationId, payload })
    expect(message.payload).toEqual(payload)
    expect(await told(conversationId)).toEqual({ type: 'message_created', payload })
    const { messages } = await client.listMessages({ conversationId })
    expect(messages.at(-1)!.payload).toEqual(payload)
    // The listener of the published client knows no such field, and leaves it out.
    expect(heard[0]!.payload).toEqual({ type: 'text', text: 'Yes' })
  })

  test('of type bloc reaches the bot with items that are messages of their own', async () => {
    const conversationId = await fixture.owner.createConversation()
    await fixture.ask('owner', 'createMessage', { conversationId, payload: { type: 'bloc', items: flat } })
    expect(await told(conversationId)).toEqual({
      type: 'message_created',
      payload: { type: 'bloc', items: flat.map(({ type, ...payload }) => ({ type, payload })) },
    })
  })

  test('is a message of its type to the Runtime API, with our ids', async () => {
    const { body } = await fixture.ask('owner', 'createMessage', {
      conversationId: 'talk',
      payload: { type: 'file', fileUrl: 'https://file', title: 'Report' },
      metadata: { a: 1 },
    })
    const read = await platform.ask('GET', `/v1/chat/messages/${body.message.id}`, undefined, {
      'x-bot-id': fixture.bot.id,
    })
    expect(read.body).toEqual({
      message: {
        id: body.message.id,
        createdAt: body.message.createdAt,
        updatedAt: time,
        type: 'file',
        payload: { fileUrl: 'https://file', title: 'Report', metadata: { a: 1 } },
        direction: 'incoming',
        userId: expect.stringMatching(/^user_/),
        conversationId: fixture.talk,
        tags: {},
      },
    })
  })

  test.each([
    { type: 'text', text: 'hello', mood: { unknown: ['kept', null] } },
    { type: 'card', title: 'Shoe', actions: [{ action: 'say', label: 'l', value: 'v', colour: 'red' }], size: 42 },
    { type: 'bloc', items: [{ type: 'image', imageUrl: 'i', title: 'kept' }], layout: 'wide' },
  ])('of type $type may have fields that nobody knows, which are kept', async (payload) => {
    const conversationId = await fixture.owner.createConversation()
    const { body } = await fixture.ask('owner', 'createMessage', { conversationId, payload })
    const { messages } = (await fixture.ask('owner', 'listMessages', { conversationId })).body
    expect(messages).toContainEqual(body.message)
    expect(body.message.payload).toEqual(payload)
  })

  test.each(invalid)('is refused when it is %j, and the refusal says where: %s', async (payload, where) => {
    const { status, body } = await fixture.ask('owner', 'createMessage', { conversationId: 'talk', payload })
    expect({ status, body }).toEqual({ status: 400, body: errorObject(400, 'InvalidPayload') })
    expect(body.message).toContain(where)
  })
})

test.each([{}, { a: null, b: { c: [1, 'two', false] } }])(
  'metadata of a message is beside its payload for clients, and in it for bots: %j',
  async (metadata) => {
    await using listening = await listen()
    const { conversationId, heard } = listening
    const payload = { type: 'text', text: 'hello' }
    const { body } = await fixture.ask('owner', 'createMessage', { conversationId, payload, metadata })
    expect(body.message).toMatchObject({ payload: { ...payload }, metadata })
    await expect.poll(() => heard[0]).toEqual({ ...body.message, isBot: false })
    expect(await told(conversationId)).toEqual({ type: 'message_created', payload: { ...payload, metadata } })
  },
)

test.each([{}, { type: 'text', nested: { deep: [null] } }])(
  'a custom event reaches the bot with its payload: %j',
  async (payload) => {
    const conversationId = await fixture.owner.createConversation()
    await fixture.ask('owner', 'createEvent', { conversationId, payload })
    expect(await told(conversationId)).toEqual({ type: 'chat:custom', payload })
  },
)
