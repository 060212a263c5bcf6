import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { createChatUser } from '../support/chat-client.ts'
import { installIntegration, storeIntegration } from '../support/install-integration.ts'
import { openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'

let platform: Platform
let bot: DeployedBot
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
})
afterAll(() => platform[Symbol.asyncDispose]())

const notFound = { status: 404, body: { type: 'ResourceNotFound' } }
const forbidden = { status: 403, body: { type: 'Forbidden' } }

/** Creates a user with a tag, by whose key the bot sees who has created it. */
async function create(headers: Record<string, string | undefined>) {
  return platform.ask('POST', '/v1/chat/users', { tags: { made: 'yes' } }, { 'x-bot-id': bot.id, ...headers })
}

async function tagsAsStored(userId: string) {
  const { body } = await platform.ask('GET', `/v1/chat/users/${userId}`, undefined, { 'x-bot-id': bot.id })
  return body.user.tags
}

test('an integration acts on the bot that has it, by the header x-integration-id', async () => {
  const id = await storeIntegration(platform)
  await installIntegration(platform, bot.id, id, { alias: 'mail' })
  const { body } = await create({ 'x-integration-id': id })
  expect(await tagsAsStored(body.user.id)).toEqual({ 'mail:made': 'yes' })
})

test('an integration that is installed more than once is named by its alias', async () => {
  const id = await storeIntegration(platform)
  await installIntegration(platform, bot.id, id, { alias: 'first' })
  await installIntegration(platform, bot.id, id, { alias: 'second' })
  const unclear = { status: 400, body: { type: 'InvalidPayload', message: expect.stringMatching(/first.*second/) } }
  expect(await create({ 'x-integration-id': id })).toMatchObject(unclear)
  expect(await create({ 'x-integration-id': id, 'x-integration-alias': 'third' })).toMatchObject(unclear)
  const { body } = await create({ 'x-integration-id': id, 'x-integration-alias': 'second' })
  expect(await tagsAsStored(body.user.id)).toEqual({ 'second:made': 'yes' })
})

test('an integration that the bot does not have is not found', async () => {
  const elsewhere = await storeIntegration(platform)
  const other = await platform.createBot()
  await installIntegration(platform, other.id, elsewhere)
  expect(await create({ 'x-integration-id': elsewhere })).toMatchObject(notFound)
  expect(await create({ 'x-integration-id': 'chat' })).toMatchObject(notFound)
})

test('an integration’s token acts as that integration, where it is installed, and as no other caller', async () => {
  const id = await storeIntegration(platform)
  await installIntegration(platform, bot.id, id, { alias: 'post' })
  const secret = randomUUID()
  const token = { id: newId('iak'), hash: hashToken(secret), kind: 'integration', integration_id: id } as const
  await platform.context.db('tokens').insert(token)
  const authorization = `Bearer ${secret}`
  const { body } = await create({ authorization })
  expect(await tagsAsStored(body.user.id)).toEqual({ 'post:made': 'yes' })
  expect(await create({ authorization, 'x-integration-id': id })).toMatchObject({ status: 201 })
  const otherOfBot = await storeIntegration(platform)
  await installIntegration(platform, bot.id, otherOfBot, { alias: 'phone' })
  expect(await create({ authorization, 'x-integration-id': otherOfBot })).toMatchObject(forbidden)
  const without = await platform.createBot()
  expect(await create({ authorization, 'x-bot-id': without.id })).toMatchObject(forbidden)
  expect(await platform.ask('GET', '/v1/admin/bots', undefined, { authorization })).toMatchObject(forbidden)
})

describe('an integration’s token', () => {
  const parts = new AsyncDisposableStack()
  let live: Platform
  beforeAll(async () => {
    live = parts.use(await openPlatform())
  })
  afterAll(() => parts.disposeAsync())

  const code = `export const actions = {
    async enrol({ input, client }) { return { user: (await client.createUser({ tags: { plan: input.plan } })).user } }
  }`

  test('calls the bot’s own actions, which act as the bot, and nothing that speaks in the bot’s name', async () => {
    const { id: botId, chatUrl } = await live.createBot(code)
    const integrationId = await storeIntegration(live)
    const { id } = await installIntegration(live, botId, integrationId, { alias: 'crm' })
    const { body } = await live.ask('POST', '/v1/admin/integrations/iaks', { integrationId })
    const call = (type: string, input: object, to = botId) =>
      live.ask('POST', '/v1/chat/actions', { type, input }, { authorization: `Bearer ${body.value}`, 'x-bot-id': to })

    const called = await call('enrol', { plan: 'gold' })
    expect(called).toMatchObject({ status: 200, body: { output: { user: { tags: { plan: 'gold' } } } } })
    const stored = await live.context.db('users').where({ id: called.body.output.user.id })
    expect(stored).toMatchObject([{ bot_id: botId, tags: { plan: 'gold' } }])

    const chatUser = await createChatUser(chatUrl)
    const input = { conversationId: await chatUser.createConversation(), payload: {} }
    expect(await call('chat:sendEvent', input)).toMatchObject(forbidden)
    const { id: withoutIt } = await live.createBot(code)
    expect(await call('enrol', { plan: 'gold' }, withoutIt)).toMatchObject(forbidden)
    await live.context.db('installations').where({ id }).update({ enabled: false })
    expect(await call('enrol', { plan: 'gold' })).toMatchObject(forbidden)
  })
})

test('a bot’s token does not act as an integration of another bot', async () => {
  const id = await storeIntegration(platform)
  const other = await platform.createBot()
  await installIntegration(platform, other.id, id)
  const secret = randomUUID()
  const token = { id: newId('bak'), hash: hashToken(secret), kind: 'bot', bot_id: bot.id } as const
  await platform.context.db('tokens').insert(token)
  const authorization = `Bearer ${secret}`
  expect(await create({ authorization, 'x-bot-id': other.id, 'x-integration-id': id })).toMatchObject(forbidden)
})
