import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { innermostOf } from '#sandbox/isolation/processes.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { installCode } from '../support/install-code.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { backEnds, openPlatform, type BackEnd, type DeployedBot, type Platform } from '../support/platform.ts'

const patience = { timeout: 30_000, interval: 20 }

let platform: Platform

/** Opens a platform for the tests of a group; one at a time, so that there is one sandbox process. */
function usePlatform(backEnd: BackEnd): void {
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, environment: { SANDBOX_CPU_MS: '150' } })
  })
  afterAll(() => platform[Symbol.asyncDispose]())
}

/** The sandbox processes of the worker, which is in this process, from the oldest on: those with a permission model. */
function sandboxProcesses(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  const inside = children.map((child) => innermostOf(Number(child)))
  return inside.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--permission'))
}

/** Answers in three parts, and takes its time between them. */
const slowBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      for (const part of [1, 2, 3]) {
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview + part } })
        await new Promise((resolve) => setTimeout(resolve, 150))
      }
    },
  }`

interface Conversation {
  bot: DeployedBot
  conversationId: string
}

/** Has somebody say all this in so many conversations with each bot. */
async function startTalks(bots: DeployedBot[], each: number, texts: string[]): Promise<Conversation[]> {
  const chatUsers = await Promise.all(bots.map(async (bot) => ({ bot, chatUser: await createChatUser(bot.chatUrl) })))
  const talks = chatUsers.flatMap((one) => Array.from({ length: each }, () => one))
  return Promise.all(talks.map(async ({ bot, chatUser }) => ({ bot, conversationId: await sendAll(chatUser, texts) })))
}

async function sendAll(chatUser: ChatUser, texts: string[]): Promise<string> {
  const conversationId = await chatUser.createConversation()
  for (const text of texts) await chatUser.send(conversationId, text)
  return conversationId
}

describe.each(backEnds)(
  'a sandbox process that is killed in the middle of the events of two bots, on %s,',
  (backEnd) => {
    usePlatform(backEnd)

    test('is replaced, and all that they have to say is said once, in order', async () => {
      const bots = [await platform.createBot(slowBot), await platform.createBot(slowBot)]
      const talks = await startTalks(bots, 3, ['a', 'b', 'c'])
      const botIds = bots.map(({ id }) => id)
      const { db } = platform.context
      const said = () =>
        db('messages')
          .whereIn(
            'conversation_id',
            talks.map(({ conversationId }) => conversationId),
          )
          .where({ direction: 'outgoing' })
      const inFlight = () =>
        db('events').whereIn('bot_id', botIds).where({ status: 'pending' }).where('attempt', '>', 0)
      const busyBots = async () => new Set((await inFlight()).map(({ bot_id: botId }) => botId)).size

      for (const soFar of [8, 24]) {
        await expect.poll(async () => (await said()).length, patience).toBeGreaterThanOrEqual(soFar)
        await expect.poll(busyBots, patience).toBe(2)
        const interrupted = await inFlight()
        process.kill(sandboxProcesses()[0]!, 'SIGKILL')
        const killedAt = performance.now()
        const again = () =>
          db('events').where((each) => {
            for (const { id, attempt } of interrupted) {
              each.orWhere((one) => one.where({ id }).where('attempt', '>', attempt))
            }
          })
        await expect.poll(async () => (await again()).length, patience).toBeGreaterThan(interrupted.length / 2)
        expect(performance.now() - killedAt).toBeLessThan(6000)
      }

      for (const { id } of bots) {
        const events = await endedEvents(platform, id, 9)
        expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['processed']))
        expect(events.some(({ attempt }) => attempt > 1)).toBe(true)
      }
      for (const { conversationId } of talks) {
        expect(await replies(platform, conversationId)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3'])
      }
    })
  },
)

describe('a sandbox process that is killed while an integration waits for an action of the bot', () => {
  usePlatform('redis')

  test('has the action performed once', async () => {
    const bot = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          const { output } = await client.callAction({ type: 'tool:order', input: { conversationId: event.conversationId } })
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: output.text } })
        },
      }
      export const actions = {
        async pay({ input, client }) {
          await client.createMessage({ conversationId: input.conversationId, type: 'text', payload: { text: 'paid' } })
          await new Promise((resolve) => setTimeout(resolve, 1000))
          return { text: 'ordered' }
        },
      }`)
    await installCode(
      platform,
      bot.id,
      `export const actions = {
        order: async ({ input, client }) => (await client.callAction({ type: 'pay', input })).output,
      }`,
    )
    const conversationId = await sendAll(await createChatUser(bot.chatUrl), ['order'])
    await expect.poll(() => replies(platform, conversationId), patience).toEqual(['paid'])
    process.kill(sandboxProcesses()[0]!, 'SIGKILL')
    await expect.poll(() => replies(platform, conversationId), patience).toContain('ordered')
    expect(await replies(platform, conversationId)).toEqual(['paid', 'ordered'])
    const { db } = platform.context
    expect(await db('events').where({ bot_id: bot.id, type: 'action_triggered' })).toHaveLength(1)
  })
})

/** Has its process killed when it is told something bad; else it answers with the value of an expression. */
const killerBot = (answer: string) => `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      if (event.preview === 'bad') new Array(2 ** 32 - 2).indexOf(1)
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: ${answer} } })
    },
  }`

describe('code that has its sandbox process killed again and again', () => {
  usePlatform('redis')

  test('of a bot is taken out of service for a reason that everybody sees, until there is another version of it', async () => {
    const bot = await platform.createBot(killerBot('event.preview'))
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await sendAll(chatUser, ['good', ...Array.from({ length: 6 }, () => 'bad'), 'good', 'good'])

    const events = await endedEvents(platform, bot.id, 9)
    const why = expect.stringMatching(/^crashed: This code is disabled: .* Upload a new version/)
    expect(events.map(({ status }) => status)).toEqual(['processed', ...Array.from({ length: 8 }, () => 'failed')])
    expect(events.slice(1, 7).every(({ failure_reason: reason }) => reason?.startsWith('cpu: '))).toBe(true)
    expect(events.slice(7).map(({ failure_reason: reason }) => reason)).toEqual([why, why])
    expect(await replies(platform, conversationId)).toEqual(['good'])

    const disabledReason = expect.stringMatching(/^This code is disabled: /)
    await expect
      .poll(async () => (await platform.ask('GET', `/v1/admin/bots/${bot.id}`)).body.bot.version, patience)
      .toMatchObject({ disabledReason })
    const lines = await platform.context.db('logs').where({ bot_id: bot.id }).orderBy('id')
    const told = lines.map(({ level, message }) => [level, message.slice(0, 40)])
    expect(told).toContainEqual(['warn', expect.stringMatching(/^Sandbox processes have died 3 times/)])
    expect(told).toContainEqual(['error', expect.stringMatching(/^This code is disabled: /)])

    // All workers read it in the same place.
    const { db } = platform.context
    await db('disabled_code').where({ bot_id: bot.id }).update({ reason: 'as another worker has it' })
    await chatUser.send(conversationId, 'good')
    const [last] = (await endedEvents(platform, bot.id, 10)).slice(-1)
    expect(last).toMatchObject({ status: 'failed', failure_reason: 'crashed: as another worker has it' })

    const update = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: killerBot(`'mended'`) })
    expect(update.body.bot.version).not.toHaveProperty('disabledReason')
    await chatUser.send(conversationId, 'good')
    expect((await endedEvents(platform, bot.id, 11)).at(-1)).toMatchObject({ status: 'processed' })
    expect(await replies(platform, conversationId)).toEqual(['good', 'mended'])
  })

  test('and dies in quarantine through no fault of its own, has the event that called it handled again', async () => {
    const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
        if (event.preview === 'search') await say('searching')
        const input = { kills: event.preview === 'kill' }
        const searched = await client.callAction({ type: 'tool:search', input }).catch((error) => ({ output: { found: error.message } }))
        await say(searched.output.found)
      },
    }`)
    await installCode(
      platform,
      bot.id,
      `export const actions = {
        async search({ input }) {
          if (input.kills) new Array(2 ** 32 - 2).indexOf(1)
          await new Promise((resolve) => setTimeout(resolve, 1500))
          return { found: 'found' }
        },
      }`,
    )
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await sendAll(chatUser, ['kill'])
    await expect.poll(() => replies(platform, conversationId), patience).toHaveLength(1)
    // It has killed the process at home three times by now, and one in quarantine.
    const before = sandboxProcesses()
    const quarantine = () => sandboxProcesses().find((pid) => !before.includes(pid))
    await chatUser.send(conversationId, 'search')
    process.kill(await vi.waitUntil(quarantine, patience), 'SIGKILL')

    await expect.poll(() => replies(platform, conversationId), patience).toHaveLength(3)
    expect((await replies(platform, conversationId)).slice(1)).toEqual(['searching', 'found'])
    const heard = platform.context.db('events').where({ bot_id: bot.id, type: 'message_created' }).orderBy('id')
    expect((await heard)[1]!.attempt).toBeGreaterThan(1)
  })

  test('of an integration is taken out of service, and the bot that calls it goes on', async () => {
    const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
        try {
          await client.callAction({ type: 'tool:search', input: {} })
        } catch (error) {
          await say(error.message)
        }
      },
    }`)
    const { integrationId } = await installCode(
      platform,
      bot.id,
      `export const actions = { search() { new Array(2 ** 32 - 2).indexOf(1) } }`,
    )
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await sendAll(chatUser, ['1', '2', '3', '4'])
    await expect.poll(() => replies(platform, conversationId), patience).toHaveLength(4)
    const said = await replies(platform, conversationId)
    expect(said.slice(0, 3).every((text) => /^The action 'tool:search' failed: .*processor time/.test(text))).toBe(true)
    expect(said[3]).toMatch(/^The action 'tool:search' failed: This code is disabled: /)

    // At home it took the bot's own run with it, three times; from then on it was alone.
    const heard = () => platform.context.db('events').where({ bot_id: bot.id, type: 'message_created' }).orderBy('id')
    await expect
      .poll(async () => (await heard()).map(({ status, attempt }) => [status, attempt]), patience)
      .toEqual([4, 1, 1, 1].map((attempt) => ['processed', attempt]))
    const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}`)
    expect(body.bot.integrations.tool.disabledReason).toMatch(/^This code is disabled: /)
    expect(body.bot.version).not.toHaveProperty('disabledReason')
    const lines = await platform.context.db('logs').where({ bot_id: bot.id }).pluck('message')
    expect(lines.filter((line) => line.startsWith('Integration installed as '))).toHaveLength(2)
    const log = `/v1/admin/integrations/${integrationId}/logs?timeStart=2024-01-01T00:00:00Z&messageContains=installed%20as`
    expect((await platform.ask('GET', log)).body.logs).toMatchObject([{ level: 'error' }, { level: 'warn' }])
  })
})
