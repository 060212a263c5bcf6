import { Client, type Signals } from '@botpress/chat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backEnds, openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

const echo = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: 'You said ' + event.preview },
      })
    },
    async afterIncomingEvent({ event, client }) {
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: event.type + ' ' + JSON.stringify(event.payload) },
      })
    },
  }
`

describe.each(backEnds)('the straight line on %s, walked with the published client', (backEnd) => {
  let platform: Platform
  let bot: DeployedBot
  beforeAll(async () => {
    platform = await openPlatform({ backEnd })
    bot = await platform.createBot(echo)
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('a user’s message comes back to the listener, followed by the bot’s reply', async () => {
    const client = await Client.connect({ apiUrl: bot.chatUrl })
    const { conversation } = await client.createConversation({})
    const listener = await client.listenConversation({ id: conversation.id })
    const heard: Signals['message_created'][] = []
    listener.on('message_created', (signal) => heard.push(signal))

    const { message } = await client.createMessage({
      conversationId: conversation.id,
      payload: { type: 'text', text: 'hello' },
    })
    await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(2)
    await listener.disconnect()

    expect(heard[0]).toEqual({ ...message, isBot: false })
    expect(heard[1]).toMatchObject({
      isBot: true,
      userId: bot.id,
      conversationId: conversation.id,
      payload: { type: 'text', text: 'You said hello' },
    })
    const { isBot, ...reply } = heard[1]!
    const { messages } = await client.listMessages({ conversationId: conversation.id })
    expect(messages).toEqual([reply, message])
    expect(isBot).toBe(true)
  })

  test('a custom event reaches the bot', async () => {
    const client = await Client.connect({ apiUrl: bot.chatUrl, userId: 'eve' })
    const { conversation } = await client.createConversation({ id: 'eves' })
    const listener = await client.listenConversation({ id: 'eves' })
    const events: Signals['event_created'][] = []
    const messages: Signals['message_created'][] = []
    listener.on('event_created', (signal) => events.push(signal))
    listener.on('message_created', (signal) => messages.push(signal))

    const { event } = await client.createEvent({ conversationId: conversation.id, payload: { at: 'noon' } })
    await expect.poll(() => messages.length, { timeout: 10_000 }).toBe(1)
    await listener.disconnect()

    expect(events).toEqual([{ ...event, isBot: false }])
    expect(event).toMatchObject({ userId: 'eve', conversationId: 'eves', payload: { at: 'noon' } })
    expect(messages[0]!.payload).toEqual({ type: 'text', text: 'chat:custom {"at":"noon"}' })
  })

  test('a message of nearly a megabyte comes through whole', async () => {
    const client = await Client.connect({ apiUrl: bot.chatUrl })
    const { conversation } = await client.createConversation({})
    const listener = await client.listenConversation({ id: conversation.id })
    const heard: Signals['message_created'][] = []
    listener.on('message_created', (signal) => heard.push(signal))
    const text = 'é'.repeat(500_000)

    await client.createMessage({ conversationId: conversation.id, payload: { type: 'text', text } })
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(2)
    await listener.disconnect()

    expect(heard.map(({ payload }) => payload)).toEqual([
      { type: 'text', text },
      { type: 'text', text: `You said ${text}` },
    ])
  })
})
