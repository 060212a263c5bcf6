import { Client } from '@botpress/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { logOf } from '../../support/install-code.ts'
import { answerWith, complete, startEndpoint, type ScriptedEndpoint } from '../../support/models.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let endpoint: ScriptedEndpoint
let platform: Platform
beforeAll(async () => {
  endpoint = await startEndpoint()
  platform = await openPlatform({ environment: endpoint.environment })
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await endpoint[Symbol.asyncDispose]()
})

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

test('an agent may have the timers of many pages at the same time', async () => {
  const bot = await platform.createBot(`
    exports.tag = 'adkSyncTs'
    exports.handler = async ({ headers }) => {
      if (headers['x-bp-operation'] !== 'event_received' || headers['x-bp-type'] !== 'message_created') return {}
      for (let count = 0; count < 300; count += 1) AbortSignal.timeout(50_000)
      return {}
    }`)
  const chatUser = await createChatUser(bot.chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  // The other event is that of the deployment.
  const events = await endedEvents(platform, bot.id, 2)
  expect(events.map(({ failure_reason: reason }) => reason)).toEqual([null, null])
})

test('a bundle of the SDK is told how much time is left to it', async () => {
  const code = `
    exports.handler = async ({ headers }, context) => {
      if (headers['x-bp-operation'] !== 'event_received' || headers['x-bp-type'] !== 'message_created') return {}
      const before = context.getRemainingTimeInMillis()
      await new Promise((resolve) => setTimeout(resolve, 200))
      const after = context.getRemainingTimeInMillis()
      console.info(before <= 20_000, after > 0, before - after >= 190, context.memoryLimitInMB)
      return {}
    }`
  const { body } = await platform.ask('POST', '/v1/admin/bots', { code, limits: { wallMilliseconds: 20_000 } })
  const chatUser = await createChatUser(body.bot.integrations.chat.webhookUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  await expect.poll(() => logOf(platform, body.bot.id)).toEqual(['info true true true 64'])
})

test('an agent waits for values that its own action computes in several calls, and for a model meanwhile', async () => {
  endpoint.script = (response) => complete(response, { content: 'Here' })
  const code = `
    exports.tag = 'adkSyncTs'
    const ask = async (path, body) =>
      (await fetch(process.env.BP_API_URL + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json()
    exports.handler = async ({ headers, body }) => {
      if (headers['x-bp-operation'] === 'action_triggered') {
        const { requests } = JSON.parse(body).input
        await new Promise((resolve) => setTimeout(resolve, 500))
        const [{ row }] = requests
        const rows = [{ id: row.id, total: { status: 'computed', value: row.price * 2 } }]
        return { status: 200, body: JSON.stringify({ output: { isFinished: requests.length === 1, rows } }) }
      }
      if (headers['x-bp-operation'] !== 'event_received' || JSON.parse(body).event.type !== 'message_created') return {}
      const [{ rows }, { output }] = await Promise.all([
        ask('/v1/tables/ordersTable/rows', { rows: [{ price: 2 }, { price: 3 }], waitComputed: true }),
        ask('/v2/cognitive/generate-text', { messages: [{ role: 'user', content: 'Where?' }] }),
      ])
      console.info('totals ' + rows[0].total + ', ' + rows[1].total + ', ' + output)
      return {}
    }`
  const bot = await platform.createBot(code)
  const total = { type: 'number', 'x-zui': { computed: { action: 'code', dependencies: ['price'] } } }
  const table = {
    name: 'ordersTable',
    isComputeEnabled: true,
    schema: { type: 'object', properties: { price: { type: 'number' }, total } },
  }
  expect(await platform.ask('POST', '/v1/tables', table, { 'x-bot-id': bot.id })).toMatchObject({ status: 200 })
  const chatUser = await createChatUser(bot.chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  await expect.poll(() => logOf(platform, bot.id)).toEqual(['info totals 4, 6, Here'])
})

test('an agent has other events while one waits for a model, and goes on with it when no other is in progress', async () => {
  const code = `
    exports.tag = 'adkSyncTs'
    let inFlight = 0
    const work = async () => {
      inFlight += 1
      console.info('together ' + inFlight)
      await new Promise((resolve) => setTimeout(resolve, 200))
      inFlight -= 1
    }
    exports.handler = async ({ headers, body }) => {
      if (headers['x-bp-operation'] !== 'event_received' || JSON.parse(body).event.type !== 'message_created') return {}
      await work()
      const question = { messages: [{ role: 'user', content: 'Where?' }] }
      const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(question) }
      const { output } = await (await fetch(process.env.BP_API_URL + '/v2/cognitive/generate-text', options)).json()
      await work()
      console.info(output)
      return {}
    }`
  const asked: (() => void)[] = []
  endpoint.script = (response) => {
    asked.push(() => complete(response, { content: 'Here' }))
    if (asked.length === 3) for (const answer of asked) answer()
  }
  const bot = await platform.createBot(code)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversations = await Promise.all([1, 2, 3].map(() => chatUser.createConversation()))
  await Promise.all(conversations.map((id) => chatUser.send(id, 'hello')))
  const lines = async () => (await logOf(platform, bot.id)).toSorted()
  await expect.poll(lines).toEqual([...Array<string>(3).fill('info Here'), ...Array<string>(6).fill('info together 1')])
})

/** A bundle of the SDK that asks a model with pictures at the addresses in a message, and logs the answer. */
const seeing = (first: string) => `
  ${first}
  exports.handler = async ({ headers, body }) => {
    const { event } = JSON.parse(body)
    if (headers['x-bp-operation'] !== 'event_received' || event.type !== 'message_created') return {}
    const content = event.payload.message.payload.text.split(' ').map((url) => ({ type: 'image', url }))
    const question = { messages: [{ role: 'user', type: 'multipart', content }] }
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(question) }
    const answer = await (await fetch(process.env.BP_API_URL + '/v2/cognitive/generate-text', options)).json()
    console.info(answer.output ?? answer.message)
    for (const { message } of answer.metadata?.warnings ?? []) console.info(message)
    return {}
  }`

const leftOut = (position: number) => `info messages.0.content.${position}.url is left out: `

test('an agent is answered where pictures of a conversation cannot be read, of which the model and the caller learn', async () => {
  endpoint.script = (response, { body }) => {
    const parts = body.messages[0].content as { text?: string; image_url?: { url: string } }[]
    complete(response, { content: parts.map(({ text, image_url: picture }) => text ?? picture!.url.length).join(', ') })
  }
  const [bot, other] = await Promise.all([
    platform.createBot(seeing(`exports.tag = 'adkSyncTs'`)),
    platform.createBot(seeing('')),
  ])
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const upload = async (key: string, bytes: number) => {
    const { file } = await client.uploadFile({ key, content: Buffer.alloc(bytes), contentType: 'image/png' })
    return (await client.getFile(file)).file
  }
  const [large, deleted, present] = await Promise.all([
    upload('large', 20_971_518),
    upload('deleted', 3),
    upload('present', 3),
  ])
  await client.deleteFile(deleted)
  const urls = [large.url, deleted.url, 'https://example.com/cat.png', present.url]
  for (const { chatUrl } of [bot, other]) {
    const chatUser = await createChatUser(chatUrl)
    await chatUser.send(await chatUser.createConversation(), urls.join(' '))
  }
  const note = '[A picture that cannot be read]'
  await expect
    .poll(() => logOf(platform, bot.id))
    .toEqual([
      `info ${note}, ${note}, ${note}, 26`,
      ...[0, 1, 2].map((position) => expect.stringContaining(leftOut(position))),
    ])
  // Other code learns of the error.
  await expect.poll(() => logOf(platform, other.id)).toEqual([expect.stringContaining('no content is at this address')])
})

test.each([
  ['refuses', 400, 'no pictures'],
  ['fails on', 500, 'failed \\(500\\)'],
])('an agent is answered by a model that %s pictures, as it is without them', async (_, status, reason) => {
  endpoint.script = (response, { body }) => {
    const [{ content }] = body.messages as [{ content: string | { image_url?: unknown; text?: string }[] }]
    const parts = typeof content === 'string' ? [{ text: content }] : content
    if (parts.some((part) => 'image_url' in part && part.image_url)) {
      return answerWith(response, status, JSON.stringify({ error: { message: 'no pictures' } }))
    }
    complete(response, { content: parts.map(({ text }) => text).join(', ') })
  }
  const picture = 'data:image/png;base64,AAAA'
  const [bot, other] = await Promise.all([
    platform.createBot(seeing(`exports.tag = 'adkSyncTs' // ${status}`)),
    platform.createBot(seeing(`// ${status}`)),
  ])
  for (const { chatUrl } of [bot, other]) {
    const chatUser = await createChatUser(chatUrl)
    await chatUser.send(await chatUser.createConversation(), picture)
  }
  await expect
    .poll(() => logOf(platform, bot.id))
    .toEqual([
      'info [A picture that cannot be read]',
      expect.stringMatching(new RegExp(`messages\\.0\\.content\\.0\\.url is left out: .*${reason}`)),
    ])
  await expect.poll(() => logOf(platform, other.id)).toEqual([expect.stringMatching(reason)])
})

test('calls with large pictures at the same time are all answered, since the process holds none of these', async () => {
  const asked: (() => void)[] = []
  endpoint.script = (response, { body }) => {
    const { length } = body.messages[0].content[0].image_url.url as string
    asked.push(() => complete(response, { content: `${length}` }))
    if (asked.length === 4) for (const answer of asked) answer()
  }
  const bot = await platform.createBot(seeing('// large'))
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const content = Buffer.alloc(15 * 2 ** 20)
  const { file } = await client.uploadFile({ key: 'large.png', content, contentType: 'image/png' })
  const { url } = (await client.getFile(file)).file
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      const chatUser = await createChatUser(bot.chatUrl)
      await chatUser.send(await chatUser.createConversation(), url)
    }),
  )
  const characters = 'data:image/png;base64,'.length + 20 * 2 ** 20
  await expect.poll(() => logOf(platform, bot.id), { timeout: 30_000 }).toEqual(Array(4).fill(`info ${characters}`))
})
