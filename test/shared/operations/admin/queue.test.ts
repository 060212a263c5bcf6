import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createChatUser } from '../../../support/chat-client.ts'
import { createMember } from '../../../support/members.ts'
import { endedEvents } from '../../../support/outcomes.ts'
import { backEnds, openPlatform, type Platform } from '../../../support/platform.ts'

/** Takes its time. */
const slow = `export const hooks = { async afterIncomingMessage({ event }) {
  if (event.preview === 'fail') throw new Error('on purpose')
  await new Promise((resolve) => setTimeout(resolve, 1500))
} }`

describe.each(backEnds)('the queue, on %s', (backEnd) => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, environment: { WORKER_CONCURRENCY: '2' } })
  })
  afterAll(() => platform[Symbol.asyncDispose]())
  const queue = async (headers?: Record<string, string>) =>
    (await platform.ask('GET', '/v1/admin/queue', undefined, headers)).body.queue

  test('is reported by workspace, and to operators by jobs and workers', async () => {
    const bot = await platform.createBot(slow)
    const other = await platform.createBot(slow)
    expect(await queue()).toMatchObject({ waiting: 0, failed: 0, bots: [], platform: { backEnd } })
    const chatUser = await createChatUser(bot.chatUrl)
    const conversations = await Promise.all([1, 2, 3, 4].map(() => chatUser.createConversation()))
    for (const conversationId of conversations) await chatUser.send(conversationId, 'hello')
    const busy = await vi.waitUntil(async () => {
      const state = await queue()
      return state.waiting > 0 && state
    }, 10_000)
    expect(busy.bots).toEqual([
      { botId: bot.id, name: expect.any(String), waiting: busy.waiting, oldestWaitingAt: busy.oldestWaitingAt },
    ])
    const theirs = await queue(await createMember(platform, 'owner'))
    expect(theirs).toMatchObject({ waiting: 0, failed: 0, bots: [] })
    expect(theirs).not.toHaveProperty('platform')
    const { jobs, workers } = busy.platform
    expect(jobs.active + jobs.waiting + jobs.delayed).toBeGreaterThan(0)
    expect(workers).toMatchObject([{ slots: 2, host: expect.any(String) }])

    const rival = await createChatUser(other.chatUrl)
    await rival.send(await rival.createConversation(), 'fail')
    await endedEvents(platform, bot.id, 4)
    await endedEvents(platform, other.id, 1)
    await expect.poll(() => queue(), { timeout: 10_000 }).toMatchObject({ waiting: 0, failed: 1, bots: [] })
    const health = async () => (await platform.ask('GET', `/v1/admin/bots/${bot.id}/health?window=1h`)).body.health
    await expect.poll(async () => (await health()).events.processed, { timeout: 10_000 }).toBe(4)
    const putBack = (await health()).buckets.reduce((sum: number, each: { putBack: number }) => sum + each.putBack, 0)
    expect(putBack).toBeGreaterThan(0)
  })

  test('is counted by what its jobs do', async () => {
    await using idle = await openPlatform({ backEnd, worker: false })
    const { queue: jobs } = idle.context
    // So many of one bot that the last wait behind others.
    for (let mailbox = 0; mailbox < 30; mailbox++) await jobs.wake('event', `mailbox-${mailbox}`, 'bot')
    await jobs.wakeLater('event', 'later', 'bot', 60_000)
    await jobs.inspect('code', 'workspace')
    expect(await jobs.counts()).toEqual({ waiting: 31, active: 0, delayed: 1, failed: 0 })
  })

  test('lists each workspace’s own events for a later time', async () => {
    const bot = await platform.createBot()
    const headers = { 'x-bot-id': bot.id }
    const event = { type: 'later', payload: {}, schedule: { delay: 3_600_000 } }
    for (let count = 0; count < 2; count++) await platform.ask('POST', '/v1/chat/events', event, headers)
    await expect
      .poll(() => queue(), { timeout: 10_000 })
      .toMatchObject({ scheduled: 2, waiting: 0, retrying: 0, bots: [] })
    expect(await queue(await createMember(platform, 'owner'))).toMatchObject({ scheduled: 0 })
  })

  test('of the platform is not for members who are no owners', async () => {
    const administrator = await createMember(platform, 'administrator', platform.workspaceId)
    expect(await queue(administrator)).not.toHaveProperty('platform')
  })
})
