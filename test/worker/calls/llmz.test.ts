import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundleSdk } from '../../sdk/bundle.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { endpointKey, ScriptedStream, startEndpoint, type ScriptedEndpoint } from '../../support/models.ts'
import { replies } from '../../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

const ownSecret = 'a secret of the bot'

let endpoint: ScriptedEndpoint
let platform: Platform
let bot: DeployedBot
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  platform = parts.use(await openPlatform({ environment: endpoint.environment }))
  bot = await platform.createBot(await bundleSdk('llmz-bot.ts'), { secrets: { OWN: ownSecret } })
})
afterAll(() => parts.disposeAsync())
beforeEach(() => void (endpoint.requests.length = 0))

interface Message {
  role: string
  content: string
}

/** The model writes code first; then it tells what the code has returned. */
function writeCode(program: string): void {
  endpoint.script = (response, { body }) => {
    const stream = new ScriptedStream(response)
    const last = (body.messages as Message[]).at(-1)!
    if (last.role !== 'tool') {
      stream.call('run_javascript', { code: program })
      return stream.end('tool_calls')
    }
    for (const word of ['The code says: ', last.content]) stream.write(word)
    stream.end()
  }
}

/** Says something; returns the conversation, once the event has ended with this status. */
async function say(text: string, status = 'processed'): Promise<string> {
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, text)
  await expect.poll(() => statusOf(conversationId), { timeout: 30_000 }).toBe(status)
  return conversationId
}

async function statusOf(conversationId: string): Promise<string | undefined> {
  const event = await platform.context.db('events').where({ conversation_id: conversationId }).first('status')
  return event?.status
}

test('llmz, bundled unmodified, runs code of a model that calls an action, and sends what comes of it', async () => {
  writeCode(`const order = await orderStatus({ number: 17 })
    return inspect({ number: order.number, upper: order.status.toUpperCase() })`)
  const conversationId = await say('Where is my order 17?')
  const [reply, ...further] = await replies(platform, conversationId)
  expect(further).toEqual([])
  expect(reply).toContain('SHIPPED')
  const bodies = endpoint.requests.map(({ body }) => body)
  expect(bodies.map(({ model, stream }) => [model, stream])).toEqual([
    ['large', true],
    ['large', true],
  ])
  expect(bodies[0].tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['run_javascript'])
})

test('a run after a failure gets the recorded answers of models and of the action, and sends no second message', async () => {
  writeCode(`return inspect(await orderStatus({ number: 17 }))`)
  const conversationId = await say('Fail once: where is my order 17?', 'failed')
  const before = await replies(platform, conversationId)
  expect(before).toEqual([expect.stringContaining('shipped')])
  const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}/failed-events`)
  const path = `/v1/admin/bots/${bot.id}/failed-events/${body.events[0].id}/replay`
  expect((await platform.ask('POST', path, {})).status).toBe(200)
  await expect.poll(() => statusOf(conversationId), { timeout: 30_000 }).toBe('processed')
  expect(await replies(platform, conversationId)).toEqual(before)
  expect(endpoint.requests).toHaveLength(2)
})

test('code of a model reaches the tools that it is given, and neither the environment of the bot nor a network', async () => {
  writeCode(`
    const seen = Object.getOwnPropertyNames(globalThis).filter((name) => /process|require|fetch|module|env/i.test(name))
    const types = [typeof process, typeof fetch, typeof require, typeof Buffer, typeof setTimeout]
    const order = await orderStatus({ number: 17 })
    return inspect(\`\${order.status}, \${types.join(' ')}, sees \${seen.join(' ')}.\`)`)
  const [reply] = await replies(platform, await say('Look around'))
  const none = Array(5).fill('undefined').join(' ')
  expect(reply).toContain(`shipped, ${none}, sees .`)
  expect(endpoint.requests[0]!.headers.authorization).toBe(`Bearer ${endpointKey}`)
  const said = JSON.stringify(endpoint.requests.map(({ body }) => body))
  for (const secret of [endpointKey, endpoint.url, ownSecret]) expect(said).not.toContain(secret)
})
