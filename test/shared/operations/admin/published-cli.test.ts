import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../../cli/postgres/free-port.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { findPublishedCli, openPublishedCli, remedy, type PublishedCli } from '../../../support/published-cli.ts'

let platform: Platform
let bp: string | undefined
let cli: PublishedCli
beforeAll(async () => {
  bp = await findPublishedCli()
  platform = await openPlatform()
  if (bp === undefined) return
  cli = await openPublishedCli(bp, platform)
  await logIn()
}, 300_000)

async function logIn(): Promise<void> {
  await cli.run('login', '--token', platform.token, '--workspace-id', platform.workspaceId, '--api-url', platform.url)
}

afterAll(async () => {
  await cli?.[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

async function botsNamed(name: string): Promise<{ id: string }[]> {
  const { body } = await platform.ask('GET', '/v1/admin/bots')
  return body.bots.filter((bot: { name: string }) => bot.name === name)
}

/** A project of the command line's own example, under a name. */
async function createIntegration(name: string): Promise<string> {
  return cli.createProject('hello-world', name.replace('/', '-'), (text) => text.replace('"hello-world"', `"${name}"`))
}

test('the published command line creates, lists, shows and deletes bots', { timeout: 120_000 }, async ({ skip }) => {
  if (bp === undefined) return skip(remedy)
  await cli.run('bots', 'create', '--name', 'till')
  const [bot] = await botsNamed('till')
  expect(await cli.run('bots', 'list', '--json')).toContain(bot!.id)
  expect(await cli.run('bots', 'get', bot!.id, '--json')).toContain('till')
  await cli.run('bots', 'delete', bot!.id)
  expect(await botsNamed('till')).toEqual([])
})

test('the published command line deploys a bot, which answers', { timeout: 120_000 }, async ({ skip }) => {
  if (bp === undefined) return skip(remedy)
  const { id, chatUrl } = await platform.createBot()
  const project = await cli.createProject('echo-bot', 'echo-bot')
  expect(await cli.run('deploy', '--work-dir', project, '--bot-id', id)).toContain('Bot deployed')
  const chatUser = await createChatUser(chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'Hello')
  const heard = async () => (await chatUser.messages(conversationId)).map(({ text }) => text)
  await expect.poll(heard, { timeout: 15_000 }).toEqual(['Hello', 'You said: Hello'])
})

test('the published command line deploys an integration, and again', { timeout: 120_000 }, async ({ skip }) => {
  if (bp === undefined) return skip(remedy)
  const project = await createIntegration('acme/hello-world')
  expect(await cli.run('deploy', '--work-dir', project)).toContain('Integration deployed')
  // The workspace has the handle now that the integration's name begins with.
  const { body } = await platform.ask('GET', `/v1/admin/workspaces/${platform.workspaceId}`)
  expect(body.handle).toBe('acme')
  expect(await cli.run('deploy', '--work-dir', project)).toContain('already exists')
  expect(await cli.run('integrations', 'list', '--json')).toContain('acme/hello-world')
  expect(await cli.run('integrations', 'get', 'acme/hello-world@0.0.1', '--json')).toContain('helloWorld')
})

test('the published command line begins, builds, reads and serves projects', { timeout: 180_000 }, async ({ skip }) => {
  if (bp === undefined) return skip(remedy)
  await cli.run('init', '--type', 'bot', '--name', 'begun')
  const project = await cli.createProject('echo-bot', 'built-bot')
  for (const command of ['generate', 'bundle', 'build']) await cli.run(command, '--work-dir', project)
  const integration = await createIntegration('acme/read')
  expect(await cli.run('read', '--work-dir', integration, '--json')).toContain('"acme/read"')
  const port = String(await freePort())
  const serving = cli.start('serve', '--work-dir', project, '--port', port)
  await serving.awaitOutput(/Listening on port/)
  expect((await fetch(`http://localhost:${port}/health`)).ok).toBe(true)
  serving.interrupt()
  await serving.ended
})

test(
  'a bot of the published command line answers from its author’s machine',
  { timeout: 180_000 },
  async ({ skip }) => {
    if (bp === undefined) return skip(remedy)
    const project = await cli.createProject('echo-bot', 'developed-bot')
    const { body: tunnel } = await platform.ask('GET', '/v1/admin/tunnel')
    const port = String(await freePort())
    const developing = cli.start('dev', '--work-dir', project, '--tunnel-url', tunnel.url, '--port', port)
    try {
      const [, devId = ''] = await developing.awaitOutput(/Dev Bot deployed with id "([^"]+)"/)
      const { body } = await platform.ask('GET', `/v1/admin/bots/${devId}`)
      const chatUser = await createChatUser(body.bot.integrations.chat.webhookUrl)
      const conversationId = await chatUser.createConversation()
      await chatUser.send(conversationId, 'Hello')
      const heard = async () => (await chatUser.messages(conversationId)).map(({ text }) => text)
      await expect.poll(heard, { timeout: 15_000 }).toEqual(['Hello', 'You said: Hello'])
    } finally {
      developing.interrupt()
      await developing.ended
    }
  },
)

test(
  'the published command line lists interfaces, deletes an integration, and logs out',
  { timeout: 120_000 },
  async ({ skip }) => {
    if (bp === undefined) return skip(remedy)
    await cli.run('deploy', '--work-dir', await createIntegration('acme/deleted'))
    const shared = { name: 'shared', version: '1.0.0', entities: {}, events: {}, actions: {}, channels: {} }
    expect((await platform.ask('POST', '/v1/admin/interfaces', shared)).status).toBe(200)
    expect(await cli.run('interfaces', 'list', '--json')).toContain('"shared"')
    expect(await cli.run('interfaces', 'get', 'shared@1.0.0', '--json')).toContain('"shared"')
    await cli.run('interfaces', 'delete', 'shared@1.0.0')
    expect(await cli.run('interfaces', 'list', '--json')).toBe('[]\n')
    await cli.run('integrations', 'delete', 'acme/deleted@0.0.1')
    expect(await cli.run('integrations', 'list', '--json')).not.toContain('acme/deleted')
    await cli.run('logout')
    await expect(cli.run('bots', 'list', '--json')).rejects.toThrow(/login|logged in/i)
    await logIn()
  },
)

const greeting = `
  import { z } from '@botpress/sdk'
  import * as bp from '.botpress'

  const bot = new bp.Bot({
    integrations: {
      greeter: new bp.acmeGreeter.AcmeGreeter({ enabled: true, config: {} }),
      inbox: new bp.inbox.Inbox({ enabled: true, config: {} }),
    },
    configuration: { schema: z.object({}) },
    states: {},
    events: {},
    recurringEvents: {},
  })
  bot.message(async ({ message, client, ctx }) => {
    const { conversationId, payload } = message
    const { output } = await client.callAction({ type: 'acme/greeter:helloWorld', input: { name: payload.text } })
    const person = await client.callAction({ type: 'inbox:createUser', input: { name: payload.text } })
    const { userId } = person.output
    await client.callAction({ type: 'inbox:startHitl', input: { userId, title: 'A person', messageHistory: [] } })
    const text = output.message
    await client.createMessage({ conversationId, userId: ctx.botId, tags: {}, type: 'text', payload: { text } })
  })
  export default bot`

test(
  'a bot to whose project the published command line adds an integration and the inbox has both, and calls them',
  { timeout: 180_000 },
  async ({ skip }) => {
    if (bp === undefined) return skip(remedy)
    const integration = await createIntegration('acme/greeter')
    // The example's own `register` and `unregister` refuse whatever they are given.
    const source = join(integration, 'src', 'index.ts')
    await writeFile(source, (await readFile(source, 'utf8')).replaceAll(/^ *throw .*$/gm, ''))
    await cli.run('deploy', '--work-dir', integration)
    const { id, chatUrl } = await platform.createBot()
    const project = await cli.createProject('echo-bot', 'greeting-bot')
    for (const name of ['acme/greeter@0.0.1', 'inbox@1.0.0']) await cli.run('add', name, '--work-dir', project)
    await writeFile(join(project, 'src', 'index.ts'), greeting)
    expect(await cli.run('deploy', '--work-dir', project, '--bot-id', id)).toContain('acme/greeter')

    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'Ada')
    const heard = async () => (await chatUser.messages(conversationId)).map(({ text }) => text)
    await expect.poll(heard, { timeout: 15_000 }).toEqual(['Ada', 'Hello "Ada"! Nice to meet you ;)'])
    const { body } = await platform.ask('GET', `/v1/admin/bots/${id}/handovers`)
    expect(body.handovers).toMatchObject([{ title: 'A person', integration: 'inbox', user: { name: 'Ada' } }])
  },
)
