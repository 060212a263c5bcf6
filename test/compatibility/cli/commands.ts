import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@botpress/chat'
import type { Connection } from '../../../cli/connection.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { endCode, type Runner } from './runner.ts'

const echoBot = `
  import * as bp from '.botpress'
  const bot = new bp.Bot({ actions: {} })
  bot.on.message('*', async ({ client, message, ctx }) => {
    const { conversationId, payload } = message
    const text = 'Heard: ' + payload.text
    await client.createMessage({ conversationId, userId: ctx.botId, tags: {}, type: 'text', payload: { text } })
  })
  bot.on.event('tick', async ({ event, logger }) => logger.info('Tick ' + event.payload.count))
  export default bot`

const echoDefinition = `
  import { BotDefinition, z } from '@botpress/sdk'
  const recurrence = { cron: '* * * * *', payload: { count: 1 } }
  export default new BotDefinition({ events: { tick: { schema: z.object({ count: z.number() }), recurrence } } })`

const definitionWithPackages = `
  import { BotDefinition } from '@botpress/sdk'
  import hello from './bp_modules/acme-hello'
  import helper from './bp_modules/acme-helper'
  export default new BotDefinition({})
    .addIntegration(hello, { enabled: true, configuration: {} })
    .addPlugin(helper, { configuration: {}, dependencies: {} })`

/**
 * Runs every command of a command line in a fixed order, in which later commands use what earlier ones have made. Commands
 * that deploy run twice.
 */
export async function runCommands(runner: Runner): Promise<void> {
  await createProjects(runner)
  await logIn(runner)
  await buildProjects(runner)
  const botId = await deployBot(runner)
  await develop(runner, botId)
  await deployPackages(runner)
  await addPackages(runner, botId)
  await deleteAll(runner, botId)
}

/** Before the login: after it, a person chooses the workspace of integrations and plugins. */
async function createProjects({ run, folder, source, cli }: Runner): Promise<void> {
  await run('init', '--type', 'bot', '--template', 'empty', '--name', 'echo')
  await run('init', '--type', 'integration', '--template', 'hello-world', '--name', 'acme/hello')
  await run('init', '--type', 'plugin', '--template', 'empty', '--name', 'acme/helper')
  const interfaceFolder = join(folder, 'typing-indicator')
  await cp(join(source, 'interfaces', 'typing-indicator'), interfaceFolder, { recursive: true })
  for (const project of ['echo', 'hello', 'helper', 'typing-indicator']) {
    await symlink(cli.modules, join(folder, project, 'node_modules'))
  }
  await writeFile(join(folder, 'echo', 'src', 'index.ts'), echoBot)
  await writeFile(join(folder, 'echo', 'bot.definition.ts'), echoDefinition)
  // The template's `register` and `unregister` refuse everything.
  const implementation = join(folder, 'hello', 'src', 'index.ts')
  await writeFile(implementation, (await readFile(implementation, 'utf8')).replaceAll(/^ *throw .*$/gm, ''))
}

async function logIn({ run, platform: { url, token, workspaceId } }: Runner): Promise<void> {
  await run('login', '--token', token, '--workspace-id', workspaceId, '--api-url', url)
  await run('profiles list')
  await run('profiles active')
  await run('profiles use default')
  await run('profiles get default')
}

async function buildProjects({ run, at }: Runner): Promise<void> {
  for (const command of ['generate', 'bundle', 'build']) await run(command, ...at('echo'))
  await run('read', ...at('hello'))
  await run('lint', ...at('typing-indicator'))
}

/** @returns the id of the bot */
async function deployBot({ run, attend, attempt, at, api, platform: { url } }: Runner): Promise<string> {
  await run('bots create', '--name', 'talker')
  const { bots } = await api.ask<'listBots'>('GET', '/v1/admin/bots')
  const botId = bots.find(({ name }) => name === 'talker')?.id ?? ''
  await run('bots get', botId)
  await run('bots list')
  await twice(() => run('deploy', ...at('echo'), '--bot-id', botId))
  await attend('chat', [botId, '--chat-api-url', `${url}/chat`], async (running) => {
    await running.awaitOutput(/Conversation created with id/)
    running.type('Hello')
    await running.awaitOutput(/Heard: Hello/)
    running.type('exit')
    return 'the bot answers'
  })
  await attempt('deploy (echo), within two minutes', async () => {
    const path = `/v1/admin/bots/${botId}/events`
    await until('The event does not come', 90_000, async () => {
      const { events } = await api.ask<'listBotEvents'>('GET', path)
      return events.some(({ type, status }) => type === 'tick' && status === 'processed')
    })
    return 'the event of its recurrence comes'
  })
  return botId
}

async function deployPackages({ run, at }: Runner): Promise<void> {
  for (const project of ['hello', 'typing-indicator', 'helper']) await twice(() => run('deploy', ...at(project)))
  await run('integrations get', 'acme/hello@0.1.0')
  await run('integrations list')
  await run('interfaces get', 'typing-indicator@latest')
  await run('interfaces list')
  await run('plugins get', 'acme/helper@0.1.0')
  await run('plugins list')
}

async function addPackages({ run, at, folder }: Runner, botId: string): Promise<void> {
  const into = ['--install-path', join(folder, 'echo')]
  await run('add', 'integration:acme/hello@0.1.0', ...into)
  await run('add', 'interface:typing-indicator@latest', ...into)
  await run('add', 'plugin:acme/helper@0.1.0', ...into)
  await run('add', 'integration:chat@1.0.0', ...into)
  await run('remove', 'chat', ...at('echo'))
  await writeFile(join(folder, 'echo', 'bot.definition.ts'), definitionWithPackages)
  await twice(() => run('deploy', ...at('echo'), '--bot-id', botId))
}

async function develop({ attend, at, api }: Runner, botId: string): Promise<void> {
  const { url: tunnelUrl } = await api.ask<'getTunnel'>('GET', '/v1/admin/tunnel')
  const optionsOf = async (project: string) => [
    ...at(project),
    '--tunnel-url',
    tunnelUrl,
    '--port',
    String(await freePort()),
  ]
  await attend('dev', await optionsOf('echo'), async (running) => {
    await running.awaitOutput(/Listening on port/)
    const [, devId = ''] = await running.awaitOutput(/Dev Bot deployed with id "([^"]+)"/)
    const { bot } = await api.ask<'getBot'>('GET', `/v1/admin/bots/${devId}`)
    await converse(bot.integrations['chat']!.webhookUrl)
    endCode(running)
    return 'the bot answers from this machine'
  })
  await attend('dev', await optionsOf('hello'), async (running) => {
    await running.awaitOutput(/Listening on port/)
    const [, integrationId = ''] = await running.awaitOutput(/Dev Integration deployed with id "([^"]+)"/)
    const { bot } = await install(api, botId, { integrationId, enabled: true, configuration: {} })
    const { status, statusReason } = bot.integrations['developed'] ?? {}
    if (status !== 'registered') throw new Error(`The integration is ${status}: ${statusReason}`)
    await install(api, botId, null)
    endCode(running)
    return 'the integration registers on this machine'
  })
  const port = String(await freePort())
  await attend('serve', [...at('echo'), '--port', port], async (running) => {
    await running.awaitOutput(/Listening on port/)
    const { ok } = await fetch(`http://localhost:${port}/health`)
    if (!ok) throw new Error('The server is not healthy')
    running.interrupt()
    return 'serves until Ctrl-C'
  })
}

/** Installs an integration on a bot, or removes it. */
async function install(api: Connection, botId: string, developed: object | null) {
  return api.ask<'updateBot'>('PUT', `/v1/admin/bots/${botId}`, { body: { integrations: { developed } } })
}

async function twice(work: () => Promise<void>): Promise<void> {
  await work()
  await work()
}

/** Talks to a bot that repeats what it hears. @throws Error when it does not */
async function converse(chatUrl: string): Promise<void> {
  const client = await Client.connect({ apiUrl: chatUrl })
  const { conversation } = await client.createConversation({})
  await client.createMessage({ conversationId: conversation.id, payload: { type: 'text', text: 'Hello' } })
  await until('The bot does not answer', 20_000, async () => {
    const { messages } = await client.listMessages({ conversationId: conversation.id })
    return messages.some(({ payload }) => payload.type === 'text' && payload.text === 'Heard: Hello')
  })
}

/** Waits for an outcome. @throws Error with the message when it has not come in time */
async function until(message: string, milliseconds: number, hasCome: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + milliseconds
  while (!(await hasCome())) {
    if (Date.now() > deadline) throw new Error(message)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function deleteAll({ run }: Runner, botId: string): Promise<void> {
  await run('bots delete', botId)
  await run('plugins delete', 'acme/helper@0.1.0')
  await run('interfaces delete', 'typing-indicator@latest')
  await run('integrations delete', 'acme/hello@0.1.0')
  await run('logout')
}
