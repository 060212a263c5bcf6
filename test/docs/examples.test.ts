import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../cli/postgres/free-port.ts'
import type { SavedCredentials } from '../../cli/start/credentials.ts'
import { createChatUser } from '../support/chat-client.ts'
import { openLink } from '../chaos/network.ts'
import { createDatabase } from '../support/databases.ts'
import { startProviders, type SimulatedProviders } from '../support/models.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'
import { readPages, root, type Block } from './blocks.ts'
import { kindNames, runExample, type PageContext } from './examples.ts'
import { openShell } from './shell.ts'

const run = promisify(execFile)

/** Where pages say that the platform is, and a service of somebody else's that bots request. */
const statedUrl = 'http://localhost:3000'
const statedService = 'api.example.com'
/** The address of a database in the pages, to which a bot connects. */
const statedDatabase = 'db.example.com:5432'
const metricsToken = 'the-token-of-who-reads-figures'

const pages = await readPages()
const parts = new AsyncDisposableStack()
let platform: Platform
let servicePort: number
let shop: URL
let example: DeployedBot
beforeAll(async () => {
  servicePort = await freePort()
  const service = createServer((request, response) => {
    if (!request.url?.startsWith('/stories')) return response.end('{"forecast":"sunny"}')
    for (const word of ['Once ', 'upon ', 'a ']) response.write(word)
    response.end('time')
  })
  service.listen(servicePort, '127.0.0.1')
  parts.defer(() => void service.close())
  shop = await openShop()
  const providers = parts.use(await startProviders())
  answerAsModels(providers.mock)
  platform = parts.use(
    await openPlatform({
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      environment: {
        OUTBOUND_ALLOW_PRIVATE: `${statedService}:${servicePort},${shop.host}`,
        OUTBOUND_CONNECT: shop.host,
        METRICS_TOKEN: metricsToken,
        ...providers.environment,
      },
    }),
  )
  const code = await readFile(join(root, 'examples', 'echo.js'), 'utf8')
  const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'echo', code })
  const { webhookId, webhookUrl } = body.bot.integrations.chat
  example = { id: body.bot.id, webhookId, chatUrl: webhookUrl }
})
afterAll(() => parts.disposeAsync())

/** A database with the stock of a shop, under the stated name. The platform's own server is never reached, but this link is. */
async function openShop(): Promise<URL> {
  const database = await createDatabase()
  parts.defer(() => database.drop())
  const client = new Client(database.url)
  await client.connect()
  await client.query(`create table stock (product text, pieces int); insert into stock values ('lamp', 3)`)
  await client.end()
  const url = new URL(database.url)
  const port = Number(url.port || 5432)
  const link = parts.use(await openLink(() => port))
  return Object.assign(url, { host: `${statedDatabase.split(':')[0]}:${link.port}` })
}

/** The answers of models to the examples of the pages. */
function answerAsModels(mock: SimulatedProviders['mock']): void {
  mock.on({ toolResultContains: 'shipped today' }, { content: 'Your order was shipped today.' })
  mock.onMessage('order 17', { toolCalls: [{ name: 'orderStatus', arguments: '{"number":17}' }] })
  mock.onMessage('two lamps', { content: '{"product":"lamp","quantity":2}' })
  const passage = 'Answer from these passages only:\nThe shop is open on weekdays, 9 to 5.'
  mock.on({ userMessage: 'does the shop open', systemMessage: passage }, { content: 'On weekdays, from 9 to 5.' })
  mock.onMessage('my parcel', { content: '{"case":"order"}' })
  mock.onMessage('a story', { content: 'Once upon a time.' })
  mock.onMessage('Why?', { content: 'Because.' })
  mock.onTranscription({ transcription: { text: 'Good morning' } })
  const picture = { image: { b64Json: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64') } }
  const speech = { audio: Buffer.from('ID3').toString('base64') }
  mock.onImage('the shop', picture).onImage('A lamp', picture)
  mock.onSpeech('the shop', speech).onSpeech('Good morning', speech)
  mock.onMessage('do you open', { content: 'On weekdays, from 9 to 5.' })
}

/** Opens the place where a reader tries a page: a folder in which `npm start` was run, and a shell in it. */
async function openPage(page: string): Promise<PageContext & AsyncDisposable> {
  const own = new AsyncDisposableStack()
  const directory = own.adopt(await mkdtemp(join(tmpdir(), 'isobot-docs-')), (path) =>
    rm(path, { recursive: true, force: true }),
  )
  const credentials: SavedCredentials = {
    baseUrl: platform.url,
    chatUrl: `${platform.url}/chat`,
    workspaceId: platform.workspaceId,
    token: platform.token,
    botId: example.id,
    webhookId: example.webhookId,
  }
  const dataFolder = join(directory, '.isobot')
  await mkdir(dataFolder)
  await writeFile(join(dataFolder, 'credentials.json'), `${JSON.stringify(credentials, undefined, 2)}\n`)
  const variables = ['DATABASE_URL', 'REDIS_URL', 'REDIS_PREFIX', 'ISOBOT_SECRET']
  const lines = variables.map((name) => `${name}="${platform.environment[name]}"\n`)
  // The port of bull-board's example, which may be taken on this machine.
  await writeFile(join(directory, 'production.env'), [...lines, `BOARD_PORT=${await freePort()}\n`].join(''))
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  const programs = join(directory, '.programs')
  await mkdir(programs)
  // Here, what npx runs is at hand.
  for (const [name, script] of [
    ['npx', 'exec "$@"'],
    ['isobot', `exec '${process.execPath}' '${join(root, 'cli', 'isobot.js')}' "$@"`],
  ] as const) {
    await writeFile(join(programs, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(programs, name), 0o755)
  }
  const PATH = [programs, join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter)
  const shell = own.use(
    openShell(directory, {
      PATH,
      HOME: directory,
      ISOBOT_CONFIG_DIR: join(directory, '.config'),
      ISOBOT_DATA_DIR: dataFolder,
      NO_COLOR: '1',
      // It would ask the registry for a newer npm.
      npm_config_update_notifier: 'false',
    }),
  )
  const context: PageContext = {
    platform,
    shell,
    directory,
    bot: example,
    printed: '',
    page,
    localise: (text) =>
      text
        .replaceAll(statedUrl, platform.url)
        .replaceAll(`https://${statedService}`, `http://${statedService}:${servicePort}`)
        .replaceAll(`"${statedService}"`, `"${statedService}:${servicePort}"`)
        .replaceAll(`postgres://bot@${statedDatabase}/shop`, shop.href)
        .replaceAll(statedDatabase, shop.host)
        .replaceAll('<webhookId>', context.bot.webhookId)
        .replaceAll('<botId>', context.bot.id)
        .replaceAll('<workspaceId>', platform.workspaceId)
        .replaceAll('<token>', platform.token)
        .replaceAll('<METRICS_TOKEN>', metricsToken),
  }
  return Object.assign(context, { [Symbol.asyncDispose]: () => own.disposeAsync() })
}

test('the example bot works', async () => {
  const chatUser = await createChatUser(example.chatUrl, { id: 'Ann' })
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hi')
  await chatUser.send(conversationId, 'ho')
  await chatUser.ask('POST', '/events', { conversationId, payload: { a: 1 } })
  await endedEvents(platform, example.id, 3)
  expect(await replies(platform, conversationId)).toEqual([
    'Hello Ann! You said: hi',
    'You said: ho',
    'Event chat:custom with {"a":1}',
  ])
})

/** The reader of a page has no bots of other pages. */
async function deleteOtherBots(): Promise<void> {
  const { body } = await platform.ask('GET', '/v1/admin/bots?pageSize=100')
  const ids = (body.bots as { id: string }[]).map(({ id }) => id)
  await Promise.all(ids.filter((id) => id !== example.id).map((id) => platform.ask('DELETE', `/v1/admin/bots/${id}`)))
}

/** Languages of blocks that tell nobody to do anything. */
const silent = ['', 'text', 'mermaid']
const onlyRead = /^only read: \S/

const isSilent = ({ kind, language }: Block) => kind === undefined && silent.includes(language)
const isRun = ({ kind = '' }: Block) => kindNames.includes(kind.split(' ')[0]!)

describe.each(pages.filter(({ blocks }) => blocks.some(isRun)))('the examples of $path work as it says', (page) => {
  let context: PageContext & AsyncDisposable
  beforeAll(async () => {
    context = await openPage(page.text)
  })
  afterAll(async () => {
    await context[Symbol.asyncDispose]()
    await deleteOtherBots()
  })

  test.each(page.blocks.filter(isRun))('$place', { timeout: 180_000 }, async (block) => {
    await expect(runExample(context, block)).resolves.toBeUndefined()
  })
})

test('each block of a page is an example that is run, or says why it is only read', async () => {
  const others = pages.flatMap(({ blocks }) => blocks).filter((block) => !isRun(block) && !isSilent(block))
  const hint = `a comment belongs before it, <!-- ${kindNames.join(' | ')} | only read: why -->`
  expect(others.filter(({ kind = '' }) => !onlyRead.test(kind)).map(({ place }) => `${place}: ${hint}`)).toEqual([])
  for (const { text } of others.filter(({ language }) => language === 'json')) JSON.parse(text)
  for (const { text } of others.filter(({ language }) => language === 'sh')) await run('bash', ['-n', '-c', text])
})
