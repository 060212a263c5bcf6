import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { logOf } from '../../support/install-code.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A bundle of the SDK that logs how many of its events run at the same time. */
const counting = (first: string) => `
  ${first}
  let inFlight = 0
  exports.handler = async (request) => {
    if (request.headers['x-bp-operation'] !== 'event_received') return {}
    if (JSON.parse(request.body).event.type !== 'message_created') return {}
    inFlight += 1
    console.info('together ' + inFlight + ' ' + process.env.AWS_LAMBDA_FUNCTION_NAME)
    await new Promise((resolve) => setTimeout(resolve, 300))
    inFlight -= 1
    return {}
  }`

/** As the published runtime of agents, by the tag that it writes. */
const agent = counting(`exports.tag = 'adkSyncTs'`)

/** Says something in three conversations at once, and returns what the bot logs. */
async function logOfThree(code: string): Promise<string[]> {
  const bot = await platform.createBot(code)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversations = await Promise.all([1, 2, 3].map(() => chatUser.createConversation()))
  await Promise.all(conversations.map((id) => chatUser.send(id, 'hello')))
  await endedEvents(platform, bot.id, 4)
  return (await logOf(platform, bot.id)).filter((line) => line.startsWith('info together'))
}

test('an agent of the published runtime has one event at a time, and finds itself deployed', async () => {
  expect(await logOfThree(agent)).toEqual([1, 2, 3].map(() => 'info together 1 isobot'))
})

test('other bundles of the SDK have their events at the same time', async () => {
  expect(await logOfThree(counting(''))).toContain('info together 3 undefined')
})

test('an agent has the heap that it needs, unless the bot has a limit of its own', async () => {
  const large = `exports.held = Array.from({ length: 10_000_000 }, (_, index) => index + 0.5)`
  await expect(platform.createBot(`${large}\n${counting('')}`)).rejects.toThrow(/memory|heap/)
  await expect(platform.createBot(`${large}\n${agent}`)).resolves.toHaveProperty('id')
  const limits = { memoryMegabytes: 64 }
  await expect(platform.createBot(`${large}\n${agent}\n// own`, { limits })).rejects.toThrow(/memory|heap/)
})
