import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { Processes } from '../../support/processes.ts'
import { sandboxesOf } from '../../support/sandbox-processes.ts'
import { startTarget, type Target } from './fixture.ts'

const bots = 2
/** Together, their responses take more memory than a bot may have in the worker, and than its isolate has. */
const conversations = 3
const patience = { timeout: 60_000, interval: 50 }
const answersPerEvent = 6
const answerBytes = 9 * 1024 * 1024
/** Time for a busy machine: all of it is spent on copying. */
const wallMilliseconds = 300_000

/** Reads six large answers concurrently. Sends each length, or the error of a refused request. */
const reader = (url: string) => `export const hooks = { async afterIncomingMessage({ event, client }) {
  const read = async () => {
    const response = await fetch('${url}/')
    return (await response.arrayBuffer()).byteLength
  }
  const outcomes = await Promise.allSettled(Array.from({ length: ${answersPerEvent} }, read))
  for (const { value, reason } of outcomes) {
    const payload = { text: String(value ?? reason.cause?.message ?? reason.message) }
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload })
  }
} }`

const echo = `export const hooks = { async afterIncomingMessage({ event, client }) {
  await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview } })
} }`

const processes = new Processes()
let platform: Platform
let server: Target
let workerPid: number
beforeAll(async () => {
  const environment = { OUTBOUND_ALLOW_PRIVATE: '127.0.0.1', SANDBOX_MAX_WALL_MS: `${wallMilliseconds}` }
  platform = await openPlatform({ worker: false, environment })
  const answer = Buffer.alloc(answerBytes, 'x')
  server = await startTarget((_request, response) => response.end(answer))
  workerPid = (await processes.start(platform, 'worker')).pid
})
afterAll(async () => {
  await processes.stop()
  await server[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

test(
  'many large answers at once are read or refused by name, kill no sandbox process, and other bots reply',
  { timeout: 600_000 },
  async () => {
    const neighbour = await createChatUser((await platform.createBot(echo)).chatUrl)
    const neighbourConversation = await neighbour.createConversation()
    await neighbour.send(neighbourConversation, 'before')
    await expect.poll(() => replies(platform, neighbourConversation), patience).toEqual(['before'])
    const sandboxes = sandboxesOf(workerPid)
    const readers = await Promise.all(
      Array.from({ length: bots }, async () => {
        const { body } = await platform.ask('POST', '/v1/admin/bots', {
          code: reader(server.url),
          permissions: { net: ['127.0.0.1'] },
          limits: { wallMilliseconds },
        })
        const chatUser = await createChatUser(body.bot.integrations.chat.webhookUrl)
        const ids = await Promise.all(Array.from({ length: conversations }, () => chatUser.createConversation()))
        return { id: body.bot.id as string, chatter: chatUser, ids }
      }),
    )
    await Promise.all(readers.flatMap(({ chatter: chatUser, ids }) => ids.map((id) => chatUser.send(id, 'read'))))
    await neighbour.send(neighbourConversation, 'during')
    await expect.poll(() => replies(platform, neighbourConversation), patience).toEqual(['before', 'during'])

    for (const { id, ids } of readers) {
      const pending = () => platform.context.db('events').where({ bot_id: id, status: 'pending' })
      await expect.poll(pending, { ...patience, timeout: 300_000 }).toEqual([])
      // The conversations of a bot share the memory of its isolate, so some events, or
      // reads, may reach that limit.
      const events = await platform.context.db('events').where({ bot_id: id, type: 'message_created' })
      expect(events.filter(({ failure_reason: reason }) => reason !== null && !reason.startsWith('memory:'))).toEqual(
        [],
      )
      const outcomes = (await Promise.all(ids.map((conversationId) => replies(platform, conversationId)))).flat()
      expect(outcomes).toContain(`${answerBytes}`)
      const named = /^\d+$|^Too many large responses|^Array buffer allocation failed$/
      for (const outcome of outcomes) expect(outcome).toMatch(named)
    }
    expect(sandboxesOf(workerPid)).toEqual(sandboxes)
  },
)
