import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { installIntegration, storeIntegration } from '../install-integration.ts'
import { openPlatform, type DeployedBot, type Platform } from '../platform.ts'

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

test('an integration’s token acts as that integration, where it is installed, and as nobody else', async () => {
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
