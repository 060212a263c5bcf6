import { Client } from '@botpress/chat'
import { expect, test } from 'vitest'
import { openPlatform } from '../../support/platform.ts'

/** Longer than Node's HTTP agent and the published client's requests let a connection of theirs be silent: 5 s. */
const quietMilliseconds = 6000

test('the published client goes on listening to a conversation that is silent for a while', async () => {
  await using platform = await openPlatform()
  const bot = await platform.createBot(`export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId, userId } = event
      const schedule = { delay: ${quietMilliseconds} }
      await client.createEvent({ type: 'later', payload: {}, conversationId, userId, schedule })
    },
    async afterIncomingEvent({ event, client }) {
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'At last' } })
    },
  }`)
  const client = await Client.connect({ apiUrl: bot.chatUrl })
  const { conversation } = await client.createConversation({})
  const listener = await client.listenConversation({ id: conversation.id })
  const outcome = Promise.withResolvers<unknown>()
  listener.on('error', (error) => outcome.resolve(error))
  listener.on('message_created', ({ isBot, payload }) => isBot && outcome.resolve(payload))
  await client.createMessage({ conversationId: conversation.id, payload: { type: 'text', text: 'Hi' } })
  expect(await outcome.promise).toEqual({ type: 'text', text: 'At last' })
  await listener.disconnect()
}, 60_000)
