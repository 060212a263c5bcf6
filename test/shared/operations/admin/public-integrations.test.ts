import { Client } from '@botpress/client'
import { transforms } from '@bpinternal/zui'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../../support/chat-client.ts'
import { logOf } from '../../../support/install-code.ts'
import { endedEvents } from '../../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform()
  const { url: apiUrl, token, workspaceId } = platform
  client = new Client({ apiUrl, token, workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

describe('the chat, as published clients look for it', () => {
  test('is found by its name in a version, a range and the latest, and by its id', async () => {
    const versionOf = async (version: string) =>
      (await client.getPublicIntegration({ name: 'chat', version })).integration.version
    const versions = ['1.0.0', '>=1.0.0 <2.0.0', 'latest', '0.7.6', '^0.7.0']
    expect(await Promise.all(versions.map(versionOf))).toEqual(['1.0.0', '1.0.0', '1.0.0', '0.7.6', '0.7.6'])
    const { integration } = await client.getPublicIntegration({ name: 'chat', version: 'latest' })
    expect((await client.getPublicIntegrationById({ id: integration.id })).integration).toEqual(integration)
    expect(Object.keys(integration.channels['channel']!.messages).toSorted()).toEqual([
      'audio',
      'bloc',
      'card',
      'carousel',
      'choice',
      'dropdown',
      'file',
      'image',
      'location',
      'markdown',
      'text',
      'video',
    ])
    expect(Object.keys(integration.actions).toSorted()).toEqual([
      'publishMessageStream',
      'sendEvent',
      'startTypingIndicator',
      'stopTypingIndicator',
    ])
  })

  test.for(['chat', 'webchat'])('%s has schemas of which published command lines make types', async (name) => {
    const { integration } = await client.getPublicIntegration({ name, version: 'latest' })
    const { channels, actions, events, configuration } = integration
    const schemas = [
      ...Object.values(channels).flatMap(({ messages }) => Object.values(messages).map(({ schema }) => schema)),
      ...Object.values(actions).flatMap(({ input, output }) => [input.schema, output.schema]),
      ...Object.values(events).map(({ schema }) => schema),
      configuration.schema,
    ]
    for (const schema of schemas) {
      expect(transforms.fromJSONSchemaLegacy(schema as object).toTypescriptSchema()).toMatch(/^z\.object/)
    }
  })

  test('is listed, and others are not found', async () => {
    const named = async (input: Parameters<Client['listPublicIntegrations']>[0]) =>
      (await client.listPublicIntegrations(input)).integrations.map(({ name, version }) => `${name} ${version}`)
    expect(await named({})).toEqual(['chat 1.0.0', 'chat 0.7.6', 'webchat 0.3.0', 'inbox 1.0.0'])
    expect(await named({ name: 'chat', version: 'latest' })).toEqual(['chat 1.0.0'])
    expect(await named({ search: 'over HTTP', version: '0.7.6' })).toEqual(['chat 0.7.6'])
    expect(await named({ name: 'slack' })).toEqual([])
    await expect(client.getPublicIntegration({ name: 'slack', version: 'latest' })).rejects.toMatchObject({ code: 404 })
    await expect(client.getPublicIntegration({ name: 'chat', version: '2.0.0' })).rejects.toMatchObject({ code: 404 })
    await expect(client.getPublicIntegrationById({ id: 'intver_unknown' })).rejects.toMatchObject({ code: 404 })
  })

  test('is installed on every bot under its id, which look-ups after a deployment find', async () => {
    const { id } = await platform.createBot()
    const { integration } = await client.getPublicIntegration({ name: 'chat', version: '1.0.0' })
    const configuration = { encryptionKey: 'a key' }
    const integrations = { chat: { integrationId: integration.id, enabled: true, configuration } }
    const { bot } = await client.updateBot({ id, integrations })
    expect(bot.integrations['chat']).toMatchObject({
      id: integration.id,
      version: '1.0.0',
      enabled: true,
      configuration,
    })
    const { bot: renamed } = await client.updateBot({ id, integrations: { [integration.id]: { configuration: {} } } })
    expect(renamed.integrations['chat']).toMatchObject({ configuration: {} })
  })

  test('cannot be installed under another alias', async () => {
    const { id } = await platform.createBot()
    const { integration } = await client.getPublicIntegration({ name: 'chat', version: 'latest' })
    await expect(client.updateBot({ id, integrations: { talk: { integrationId: integration.id } } })).rejects.toThrow(
      /is not 'chat', the alias that the chat has on every bot/,
    )
  })
})

test('a bundle of the public SDK gets the event of a chat client with the client’s fields in a field of their own', async () => {
  const bot = await platform.createBot(`
    module.exports.handler = async ({ headers, body }) => {
      if (headers['x-bp-operation'] === 'event_received') console.info('got ' + JSON.stringify(JSON.parse(body).event.payload))
    }`)
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  await user.ask('POST', '/events', { conversationId, payload: { kind: 'pressed' } })
  // The other one is the bot's registration.
  const events = await endedEvents(platform, bot.id, 2)
  const event = events.find(({ type }) => type === 'chat:custom')!
  const payload = { userId: event.user_id, conversationId: event.conversation_id, payload: { kind: 'pressed' } }
  expect(await logOf(platform, bot.id)).toContain(`info got ${JSON.stringify(payload)}`)
})
