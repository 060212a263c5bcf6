import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { installCode } from '../../support/install-code.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { startTarget } from './fixture.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let address: string
beforeAll(async () => {
  const target = parts.use(await startTarget((_request, response) => response.end('here')))
  address = `127.0.0.1:${target.port}`
  platform = parts.use(
    await openPlatform({ environment: { SANDBOX_NET: address, OUTBOUND_ALLOW_PRIVATE: '127.0.0.1,localhost' } }),
  )
})
afterAll(() => parts.disposeAsync())

/** Code that says what comes of a request. */
const asking = () =>
  `const ask = () => fetch('http://${address}/').then((answer) => answer.text(), (error) => error.message)`

/** The reply of a bot that makes a request, or has its integration make one. */
async function told(call: string, fields: object, integration?: object): Promise<string> {
  const code = `${asking()}
    export const hooks = {
      async afterIncomingMessage({ event: { conversationId }, client }) {
        await client.createMessage({ conversationId, type: 'text', payload: { text: await ${call} } })
      },
    }`
  const { body } = await platform.ask('POST', '/v1/admin/bots', { code, ...fields })
  const { id } = body.bot
  const acting = `${asking()}\nexport const actions = { ask: async () => ({ text: await ask() }) }`
  if (integration) await installCode(platform, id, acting, { definition: integration })
  const before = await platform.context.db('events').where({ bot_id: id }).pluck('id')
  const chatUser = await createChatUser(body.bot.integrations.chat.webhookUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'go')
  await endedEvents(platform, id, before.length + 1)
  return (await replies(platform, conversationId)).join()
}

const byAction = `client.callAction({ type: 'tool:ask', input: {} }).then(({ output }) => output.text)`
const nothing = { permissions: { net: [] } }
const others = { permissions: { net: ['example.com'] } }

test.each([
  ['a bot to which nobody granted anything', () => told('ask()', {})],
  ['an integration to which nobody granted anything', () => told(byAction, nothing, {})],
])('%s reaches what the operator grants to all', async (_who, ask) => {
  expect(await ask()).toBe('here')
})

test.each([
  ['a bot that was granted nothing', () => told('ask()', nothing)],
  ['a bot that was granted something else', () => told('ask()', others)],
  ['an integration that was granted nothing', () => told(byAction, {}, nothing)],
])('%s does not', async (_who, ask) => {
  expect(await ask()).toMatch(/permissions\.net|not granted|may not/)
})
