import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({
    environment: { SANDBOX_WALL_MS: '3000', SANDBOX_CPU_MS: '300', SANDBOX_HEAP_MB: '32' },
  })
})
afterAll(() => platform[Symbol.asyncDispose]())

const neighbour = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview } })
    },
  }`

describe('a hook', () => {
  test.each([
    ['never settles', 'await new Promise(() => {})', 'timeout'],
    ['loops for ever', 'for (;;) {}', 'cpu'],
    ['loops for ever after an await', 'await new Promise((resolve) => setTimeout(resolve, 5)); for (;;) {}', 'cpu'],
    [
      'loops for ever after it has asked the platform',
      'await client.getUser({ id: event.userId }); for (;;) {}',
      'cpu',
    ],
    ['takes all memory', 'const all = []; for (;;) all.push(new Array(1e4).fill(Math.random()))', 'memory'],
  ])(
    'that %s fails its event by name, while the bot’s conversation and its neighbour go on',
    async (_what, body, reason) => {
      const bot = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          if (event.preview === 'bad') { ${body} }
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview } })
        },
      }`)
      // Processor time passes slowly on a loaded machine, and to look for the last free memory takes V8 long.
      const limits = {
        timeout: {},
        cpu: { wallMilliseconds: 20_000 },
        memory: { cpuMilliseconds: 10_000, wallMilliseconds: 20_000 },
      }[reason]
      await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { limits })
      const other = await platform.createBot(neighbour)
      const [chatUser, friend] = [await createChatUser(bot.chatUrl), await createChatUser(other.chatUrl)]
      const [conversationId, quiet] = [await chatUser.createConversation(), await friend.createConversation()]
      for (const text of ['bad', 'good']) await chatUser.send(conversationId, text)
      for (const text of ['1', '2', '3']) await friend.send(quiet, text)

      const events = await endedEvents(platform, bot.id, 2)
      expect(events[0]).toMatchObject({
        status: 'failed',
        failure_reason: expect.stringMatching(new RegExp(`^${reason}: `)),
      })
      expect(events[1]).toMatchObject({ status: 'processed' })
      expect(await replies(platform, conversationId)).toEqual(['good'])
      await endedEvents(platform, other.id, 3)
      expect(await replies(platform, quiet)).toEqual(['1', '2', '3'])
    },
  )
})

test('an event that loops for ever names its hook, and the last call before the loop', async () => {
  const { id, chatUrl } = await platform.createBot(`
    export const hooks = {
      beforeIncomingMessage() {},
      async afterIncomingMessage({ event, client }) {
        await client.getConversation({ id: event.conversationId })
        await client.getUser({ id: event.userId })
        for (;;);
      },
    }`)
  const chatUser = await createChatUser(chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'Hello')
  const [failed] = await endedEvents(platform, id, 1)
  const { event } = (await platform.ask('GET', `/v1/admin/bots/${id}/events/${failed!.id}`)).body
  expect(event).toMatchObject({ hook: 'afterIncomingMessage', failureReason: expect.stringMatching(/^cpu: /) })
  const calls = event.runs[0].steps.filter(({ kind }: { kind: string }) => kind === 'call')
  expect(calls.map(({ name }: { name: string }) => name)).toEqual(['getConversation', 'getUser'])
})

test('events of one bot interleave at their awaits in one isolate', async () => {
  const bot = await platform.createBot(`
    let meet
    const met = new Promise((resolve) => { meet = resolve })
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        if (event.preview === 'waits') await met
        else meet()
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview } })
      },
    }`)
  const chatUser = await createChatUser(bot.chatUrl)
  const [first, second] = [await chatUser.createConversation(), await chatUser.createConversation()]
  await chatUser.send(first, 'waits')
  await chatUser.send(second, 'frees')
  await endedEvents(platform, bot.id, 2)
  expect(await replies(platform, first)).toEqual(['waits'])
})
