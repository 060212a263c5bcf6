import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#shared/config.ts'
import { hookNames } from '#shared/models/bot-code.ts'
import { botOperations } from '#shared/router.ts'
import { createChatter } from './chatter.ts'
import { endedEvents, replies } from './outcomes.ts'
import { openPlatform, type Platform } from './platform.ts'

const root = join(import.meta.dirname, '..')
let readme: string
let platform: Platform
beforeAll(async () => {
  readme = await readFile(join(root, 'README.md'), 'utf8')
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

test('the bot of the README works as it says', async () => {
  const [, code] = /```ts\n(export const hooks[^]*?)```/.exec(readme) ?? []
  const bot = await platform.createBot(code)
  const chatter = await createChatter(bot.chatUrl)
  const conversationId = await chatter.createConversation()
  await chatter.say(conversationId, 'hi')
  await chatter.say(conversationId, 'ho')
  await endedEvents(platform, bot.id, 2)
  expect(await replies(platform, conversationId)).toEqual(['Hello! You said: hi', 'Welcome back. You said: ho'])
})

test('the integration of the README works as it says', async () => {
  const [, code] = /```ts\n(export async function register[^]*?)```/.exec(readme) ?? []
  const created = await platform.ask('POST', '/v1/admin/integrations', { name: 'rooms', version: '1.0.0', code })
  expect(created).toMatchObject({ status: 200 })
  const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        const { output } = await client.callAction({ type: 'rooms:weather', input: { place: event.preview } })
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: output })
      },
    }`)
  const integrations = { rooms: { integrationId: created.body.integration.id } }
  const installed = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations })
  expect(installed.body.bot.integrations.rooms).toMatchObject({ status: 'registered', statusReason: null })
  const { webhookUrl } = installed.body.bot.integrations.rooms
  const response = await fetch(webhookUrl, {
    method: 'POST',
    body: JSON.stringify({ room: 'kitchen', from: 'Ann', text: 'Bern' }),
  })
  expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text: 'thank you' })
  const lines = () => platform.context.db('logs').where({ bot_id: bot.id }).pluck('message')
  await expect.poll(lines, { timeout: 10_000 }).toContain('kitchen hears No idea about Bern')
  const [row] = await platform.context.db('installations').where({ bot_id: bot.id, alias: 'rooms' })
  expect(row).toMatchObject({ schedule: 'daily' })
})

test('the example bot works', async () => {
  const bot = await platform.createBot(await readFile(join(root, 'examples', 'echo.js'), 'utf8'))
  const chatter = await createChatter(bot.chatUrl, { id: 'Ann' })
  const conversationId = await chatter.createConversation()
  await chatter.say(conversationId, 'hi')
  await chatter.say(conversationId, 'ho')
  await chatter.ask('POST', '/events', { conversationId, payload: { a: 1 } })
  await endedEvents(platform, bot.id, 3)
  expect(await replies(platform, conversationId)).toEqual([
    'Hello Ann! You said: hi',
    'You said: ho',
    'Event chat:custom with {"a":1}',
  ])
})

test('the README names every hook and everything that a client can do', () => {
  for (const name of [...hookNames, ...botOperations.map((operation) => operation.name)])
    expect(readme).toContain(`\`${name}\``)
})

test('the README names every variable that the platform gets from the environment of its deployment', async () => {
  const app = JSON.parse(await readFile(join(root, 'app.json'), 'utf8')) as { env: Record<string, { value?: string }> }
  for (const name of Object.keys(app.env)) expect(readme).toContain(`\`${name}\``)
  const given = Object.fromEntries(
    Object.entries(app.env).map(([name, { value }]) => [name, value ?? `https://${'x'.repeat(64)}`]),
  )
  expect(() => readConfig({ DATABASE_URL: 'postgres://host/name', REDIS_URL: 'rediss://host', ...given })).not.toThrow()
})
