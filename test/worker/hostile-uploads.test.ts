import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { createMember } from '../support/members.ts'
import { replies } from '../support/outcomes.ts'
import { backEnds, openPlatform, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'
import { compilersOf, isAlive, withChildren } from '../support/sandbox-processes.ts'

const patience = { timeout: 30_000, interval: 50 }

const echo = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const payload = { text: 'heard ' + event.preview }
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload })
    },
  }`

/** Takes the compiler longer than any upload may take. */
const slow = `x = ${'(a<'.repeat(15_000)}`
const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`

describe.each(backEnds)('while one workspace uploads what takes all that an upload may take, on %s', (backEnd) => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, environment: { COMPILE_SECONDS: '2', COMPILE_MEMORY: '400' } })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('others talk and upload, and it gets the name of its limit', { timeout: 120_000 }, async () => {
    const bot = await platform.createBot(echo)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    const attacker = await createMember(platform, 'developer')
    let answered = 0
    const hostile = [slow, slow, slow, nested].map(async (code) => {
      const answer = await platform.ask('POST', '/v1/admin/bots', { code }, attacker)
      answered += 1
      return answer
    })
    await expect.poll(() => compilersOf(process.pid), patience).not.toEqual([])

    await chatUser.send(conversationId, 'me')
    await expect.poll(() => replies(platform, conversationId), patience).toEqual(['heard me'])
    const updated = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: `${echo}\n// again` })
    expect(updated.status).toBe(200)
    expect(answered).toBeLessThan(hostile.length)

    for (const answer of await Promise.all(hostile)) {
      expect(answer).toMatchObject({
        status: 413,
        body: { type: 'LimitExceeded', message: expect.stringMatching(/^Compiling it takes more than .*\(COMPILE_/) },
      })
    }
    const after = await platform.ask('POST', '/v1/admin/bots', { code: echo }, attacker)
    expect(after.status).toBe(200)
  })
})

describe('processes that compile end with their worker', () => {
  const processes = new Processes()
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ worker: false, environment: { COMPILE_SECONDS: '20', SHUTDOWN_SECONDS: '6' } })
  })
  afterAll(async () => {
    await processes.stop()
    await platform[Symbol.asyncDispose]()
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)('that receives %s', { timeout: 90_000 }, async (signal) => {
    const worker = await processes.start(platform, 'worker')
    const request = new AbortController()
    fetch(`${platform.url}/v1/admin/bots`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${platform.token}`,
        'x-workspace-id': platform.workspaceId,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ code: slow }),
      signal: request.signal,
    }).catch(() => {})
    await expect.poll(() => compilersOf(worker.pid), patience).not.toEqual([])
    const compiling = compilersOf(worker.pid).flatMap(withChildren)
    process.kill(worker.pid, signal)
    await expect.poll(() => compiling.filter(isAlive), patience).toEqual([])
    // No worker is left to answer it.
    request.abort()
  })
})
