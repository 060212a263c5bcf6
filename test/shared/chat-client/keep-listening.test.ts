import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectToChat } from '#shared/chat-client/chat-client.ts'
import { keepListening } from '#shared/chat-client/keep-listening.ts'
import { openLink, type Link } from '../../chaos/network.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

const patience = { timeout: 30_000, interval: 20 }

let platform: Platform
let bot: DeployedBot
let link: Link
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
  link = await openLink(() => Number(new URL(platform.url).port))
})
afterAll(async () => {
  await link[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

test('receives each message once and in order: earlier ones, and those sent during and just after a lost connection', async () => {
  const apiUrl = `http://127.0.0.1:${link.port}/chat/${bot.webhookId}`
  const client = await connectToChat(apiUrl)
  const conversation = await client.createConversation()
  let count = 0
  const say = async (number: number) => {
    for (let more = 0; more < number; more++) {
      const payload = { text: String(++count) }
      const message = { conversationId: conversation.id, userId: bot.id, type: 'text', payload, tags: {} }
      const { status } = await platform.ask('POST', '/v1/chat/messages', message, { 'x-bot-id': bot.id })
      expect(status).toBe(201)
    }
  }
  const heard: unknown[] = []
  const wanted = () => Array.from({ length: count }, (_, index) => String(index + 1))
  const state = { isConnected: true }
  await say(2)
  const listening = await keepListening(client, conversation.id, {
    received: ({ payload }) => heard.push(payload['text']),
    connected: (isConnected) => (state.isConnected = isConnected),
  })
  await say(2)
  await expect.poll(() => heard, patience).toEqual(wanted())

  link.cut()
  await expect.poll(() => state.isConnected, patience).toBe(false)
  // More than one answer holds; the last of them come by the stream as well, which repeats what was said a moment ago.
  await say(45)
  link.mend()
  for (let more = 0; more < 5 || !state.isConnected; more++) await say(1)
  await expect.poll(() => heard, patience).toEqual(wanted())
  listening.close()
})
