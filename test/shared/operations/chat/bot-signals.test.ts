import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../../../support/chat-client.ts'
import { listen } from '../../../support/event-stream.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

const patience = { timeout: 10_000, interval: 10 }

let platform: Platform
let bot: DeployedBot
beforeAll(async () => {
  platform = await openPlatform()
  bot = await platform.createBot()
})
afterAll(() => platform[Symbol.asyncDispose]())

const asBot = async (method: string, path: string, body?: object) =>
  platform.ask(method, `/v1/chat${path}`, body, { 'x-bot-id': bot.id })

const call = (type: string, input: object) => asBot('POST', '/actions', { type, input })

/** A conversation in which nothing has been said. */
async function openConversation() {
  const user = await createChatUser(bot.chatUrl)
  return { user, conversationId: await user.createConversation() }
}

test('a message whose payload the bot replaces reaches listeners in its place of the log, and again after a reconnection', async () => {
  const { user, conversationId } = await openConversation()
  const listener = await listen(bot.chatUrl, user.key, conversationId)
  const said = { conversationId, userId: bot.id, type: 'text', payload: { text: 'Looking' }, tags: {} }
  const { body } = await asBot('POST', '/messages', said)
  const messageId: string = body.message.id
  const update = (payload: object) => asBot('PUT', `/messages/${messageId}`, { payload })
  await update({ text: 'Found' })
  await asBot('PUT', `/messages/${messageId}`, { tags: {} })
  await user.send(conversationId, 'Thanks')
  const types = () => listener.frames().map(({ type }) => type)
  await expect.poll(types, patience).toEqual(['message_created', 'message_updated', 'message_created'])
  const [, updated] = listener.frames()
  expect(updated!.data).toMatchObject({
    id: messageId,
    conversationId,
    payload: { type: 'text', text: 'Found' },
    isBot: true,
  })

  // Missed ones follow the last id, each with the message as it is now; a deleted message leaves its deletion alone.
  const [, lastEventId] = listener.ids()
  await listener.close()
  await update({ text: 'Sold' })
  const again = await listen(bot.chatUrl, user.key, conversationId, { lastEventId })
  await expect.poll(() => again.frames().length, patience).toBe(2)
  expect(again.frames().at(-1)).toMatchObject({ type: 'message_updated', data: { payload: { text: 'Sold' } } })
  await again.close()
  await asBot('DELETE', `/messages/${messageId}`)
  const last = await listen(bot.chatUrl, user.key, conversationId, { lastEventId })
  await expect
    .poll(() => last.frames().map(({ type }) => type), patience)
    .toEqual(['message_created', 'message_deleted'])
  await last.close()
  const stored = await platform.context.db('conversation_signals').where({ bot_id: bot.id }).select('signal')
  expect(JSON.stringify(stored)).not.toMatch(/Found|Sold/)
})

test('the bot shows listeners that it composes an answer, in conversations of the chat alone', async () => {
  const { user, conversationId } = await openConversation()
  const listener = await listen(bot.chatUrl, user.key, conversationId)
  const started = await call('chat:startTypingIndicator', { conversationId, messageId: 'm', timeout: 3000 })
  expect(started.status).toBe(200)
  await call('chat:stopTypingIndicator', { conversationId })
  await expect.poll(listener.frames, patience).toEqual([
    { type: 'typing_started', data: { conversationId, timeout: 3000 } },
    { type: 'typing_stopped', data: { conversationId } },
  ])
  expect(listener.ids()).toEqual([])
  await listener.close()
  for (const other of ['conv_none', (await otherConversation()).conversationId]) {
    expect(await call('chat:startTypingIndicator', { conversationId: other })).toMatchObject({
      status: 400,
      body: { type: 'ReferenceNotFound' },
    })
  }
  expect(await call('chat:startTypingIndicator', { conversationId, timeout: -1 })).toMatchObject({
    status: 400,
    body: { type: 'InvalidPayload' },
  })
})

/** A conversation of another bot. */
async function otherConversation(): Promise<{ conversationId: string }> {
  const other = await platform.createBot()
  const user = await createChatUser(other.chatUrl)
  return { conversationId: await user.createConversation() }
}
