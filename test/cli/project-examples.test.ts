import { createHmac } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectExamples, type ExampleName } from '../../cli/project/project-examples.ts'
import { createChatUser } from '../support/chat-client.ts'
import { listen } from '../support/event-stream.ts'
import { ScriptedStream, startEndpoint, type ScriptedEndpoint } from '../support/models.ts'
import { replies } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

const root = join(import.meta.dirname, '..', '..')
const names = Object.keys(projectExamples) as ExampleName[]
const ask = { timeout: 30_000, interval: 20 }

const parts = new AsyncDisposableStack()
let models: ScriptedEndpoint
/** Stands in for Slack, for Telegram, and for a service. */
let vendor: Receiver
let platform: Platform
let isobot: CommandLine
beforeAll(async () => {
  models = parts.use(await startEndpoint())
  vendor = parts.use(await openReceiver(() => 200, '{ "ok": true }'))
  platform = parts.use(
    await openPlatform({ environment: { ...models.environment, OUTBOUND_ALLOW_PRIVATE: vendor.host } }),
  )
  isobot = parts.use(await openCommandLine(platform))
})
afterAll(() => parts.disposeAsync())

interface Deployed {
  bot: { id: string }
  chatUrl: string
  checkedTypes: boolean
  integrations: Record<string, { status: string; webhookUrl: string }>
}

/** A handover in a list. */
interface Listed {
  handover: { id: string }
}

/** Creates a project of an example, and deploys it with variables of the environment. */
async function deploy(example: ExampleName, environment: NodeJS.ProcessEnv = {}): Promise<Deployed> {
  const { folder } = await isobot.json<{ folder: string }>('init', example, '--example', example)
  await withVendor(folder)
  const { code, stdout, stderr } = await isobot.run(['deploy', '--json'], { directory: folder, environment })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const deployed = JSON.parse(stdout) as Deployed
  expect(deployed.checkedTypes).toBe(true)
  return deployed
}

/** Lets the integrations of a project request the stand-in in place of the vendor. */
async function withVendor(folder: string): Promise<void> {
  const file = join(folder, 'isobot.json')
  const settings = JSON.parse(await readFile(file, 'utf8')) as {
    integrations?: Record<string, { hosts?: string[]; configuration: Record<string, unknown> }>
  }
  for (const integration of Object.values(settings.integrations ?? {})) {
    if (!integration.hosts) continue
    integration.hosts = [vendor.host]
    if (!('url' in integration.configuration)) integration.configuration['apiUrl'] = vendor.url
  }
  await writeFile(file, JSON.stringify(settings))
}

async function post(url: string, headers: Record<string, string>, content: unknown): Promise<[number, string]> {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(content) })
  return [response.status, await response.text()]
}

/** The requests of the stand-in below a path, as JSON. */
function requestsTo(path: string) {
  const found = vendor.received.filter((request) => request.path === path)
  return found.map(({ headers, body }) => ({ headers, body, content: JSON.parse(body) as Record<string, unknown> }))
}

test('each example has a folder, a page, and a line in the help', async () => {
  expect((await readdir(join(root, 'templates', 'examples'))).toSorted()).toEqual(names.toSorted())
  const page = await readFile(join(root, 'docs', 'examples.md'), 'utf8')
  for (const name of names) expect(page).toContain(`--example ${name}`)
  const { stdout } = await isobot.run(['init', '--help'])
  for (const [name, summary] of Object.entries(projectExamples)) expect(stdout).toMatch(`${name.padEnd(9)} ${summary}`)
  const misspelt = await isobot.run(['init', 'shop', '--example', 'telegramm'])
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "telegram"') as string })
  expect(await readdir(isobot.folder)).not.toContain('shop')
})

describe.each(names)('the example %s', (example) => {
  test('begins a project whose tests pass', { timeout: 120_000 }, async () => {
    const { folder } = await isobot.json<{ folder: string }>('init', `${example}-tests`, '--example', example)
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toMatch(new RegExp(`^# ${example}-tests\n`))
    expect(JSON.parse(await readFile(join(folder, 'isobot.json'), 'utf8'))).toMatchObject({ name: `${example}-tests` })
    const { code, stdout } = await isobot.run(['test'], { directory: folder })
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/fail 0/) as string })
  })
})

test('faq streams the answer of the model while the model writes it', async () => {
  const { chatUrl } = await deploy('faq')
  const written = Promise.withResolvers<void>()
  models.script = async (response) => {
    const stream = new ScriptedStream(response)
    stream.write('On weekdays')
    await written.promise
    stream.write(', from 9 to 5.')
    stream.end()
  }
  const user = await createChatUser(chatUrl)
  const conversationId = await user.createConversation()
  const listener = await listen(chatUrl, user.key, conversationId)
  await user.send(conversationId, 'When do you open?')
  await expect.poll(() => listener.lines().join('\n'), ask).toContain('On weekdays')
  expect(await replies(platform, conversationId)).toEqual([])
  written.resolve()
  await expect.poll(() => replies(platform, conversationId), ask).toEqual(['On weekdays, from 9 to 5.'])
  await listener.close()
  expect(models.requests.at(-1)!.body.messages[0].content).toContain('Nothing from 30 €; 4 € otherwise.')
})

test('handover gives the conversation to a member, whose answers reach the user, and comes back', async () => {
  const { chatUrl } = await deploy('handover')
  const user = await createChatUser(chatUrl)
  const conversationId = await user.createConversation()
  await user.send(conversationId, 'I want a refund')
  await user.send(conversationId, 'Is there a human?')
  const said = () => replies(platform, conversationId)
  await expect.poll(said, ask).toHaveLength(2)
  expect(await said()).toEqual([
    'Return articles within 30 days, with the label in the parcel.',
    'Nobody is here now. We answer as soon as we can.',
  ])
  const { handovers } = await isobot.json<{ handovers: Listed[] }>('inbox', 'list', '--bot', 'handover')
  expect(handovers).toMatchObject([{ handover: { title: 'Is there a human?' } }])
  const { id } = handovers[0]!.handover
  await isobot.json('inbox', 'take', id)
  await isobot.json('inbox', 'reply', conversationId, 'Here I am.')
  await user.send(conversationId, 'When are you open?')
  await isobot.json('inbox', 'resolve', id)
  await expect.poll(said, ask).toHaveLength(4)
  expect((await said()).slice(2)).toEqual(['Here I am.', 'Thank you for the talk. I am the bot again.'])
})

test('github announces signed deliveries once in the conversations that watch the repository, and refuses others', async () => {
  const secret = 'the secret of the tests'
  const { chatUrl, integrations } = await deploy('github', { GITHUB_WEBHOOK_SECRET: secret })
  const { webhookUrl } = integrations['github']!
  const user = await createChatUser(chatUrl)
  const [watching, other] = [await user.createConversation(), await user.createConversation()]
  await user.send(watching, 'watch acme/shop')
  await user.send(other, 'watch acme/other')
  const inWatching = () => replies(platform, watching)
  const inOther = () => replies(platform, other)
  await expect.poll(inOther, ask).toHaveLength(1)
  await expect.poll(inWatching, ask).toHaveLength(1)

  const issue = { number: 7, title: 'The lamp is dark', html_url: 'https://github.example/7' }
  const delivery = { action: 'opened', repository: { full_name: 'acme/shop' }, sender: { login: 'ann' }, issue }
  const deliver = (event: string, id: string, key: string, content: object = delivery) => {
    const signature = `sha256=${createHmac('sha256', key).update(JSON.stringify(content)).digest('hex')}`
    const headers = { 'X-GitHub-Event': event, 'X-GitHub-Delivery': id, 'X-Hub-Signature-256': signature }
    return post(webhookUrl, headers, content)
  }
  expect(await deliver('issues', '1', 'another secret')).toEqual([401, 'The signature is wrong'])
  expect(await deliver('issues', '2', secret)).toEqual([200, 'Announced'])
  expect(await deliver('issues', '2', secret)).toEqual([200, 'Announced'])
  expect(await deliver('ping', '3', secret, { ...delivery, zen: 'ä' })).toEqual([200, 'Announced'])
  await expect.poll(inWatching, ask).toHaveLength(3)
  expect((await inWatching()).slice(1)).toEqual([
    'ann opened the issue #7 “The lamp is dark” https://github.example/7',
    'acme/shop is connected: ä',
  ])
  expect(await inOther()).toHaveLength(1)
})

test('webhook takes messages of a service, and sends it those of the bot with a signature', async () => {
  const environment = { WEBHOOK_TOKEN: 'the token', WEBHOOK_URL: `${vendor.url}/messages` }
  const { integrations } = await deploy('webhook', environment)
  const { webhookUrl } = integrations['service']!
  const message = { id: 'm1', conversation: 'c1', user: 'u1', text: 'A tea, please' }
  expect(await post(webhookUrl, { authorization: 'Bearer another' }, message)).toEqual([401, expect.anything()])
  expect(await post(webhookUrl, { authorization: 'Bearer the token' }, message)).toEqual([202, '{}'])
  await expect.poll(() => requestsTo('/messages'), ask).toHaveLength(1)
  const [{ headers, body, content }] = requestsTo('/messages') as [ReturnType<typeof requestsTo>[0]]
  expect(content).toMatchObject({
    conversation: 'c1',
    type: 'text',
    payload: { text: 'One tea, your order number 1.' },
  })
  const signature = createHmac('sha256', environment.WEBHOOK_TOKEN).update(body).digest('hex')
  expect(headers['x-signature']).toBe(`sha256=${signature}`)
})

test('slack answers a message where it was said', async () => {
  const environment = { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_SIGNING_SECRET: 'the signing secret' }
  const { integrations } = await deploy('slack', environment)
  const { webhookUrl } = integrations['slack']!
  const receive = (content: object, secret = environment.SLACK_SIGNING_SECRET) => {
    const time = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', secret)
      .update(`v0:${time}:${JSON.stringify(content)}`)
      .digest('hex')
    return post(webhookUrl, { 'X-Slack-Request-Timestamp': time, 'X-Slack-Signature': `v0=${signature}` }, content)
  }
  expect(await receive({ type: 'url_verification', challenge: '3eZbrw1aB' })).toEqual([200, '3eZbrw1aB'])
  const event = { type: 'message', user: 'U1', channel: 'D1', ts: '1355517523.000005', text: 'A tea, please' }
  expect(await receive({ type: 'event_callback', event }, 'another secret')).toEqual([401, ''])
  expect((await receive({ type: 'event_callback', event }))[0]).toBe(200)
  expect((await receive({ type: 'event_callback', event: { ...event, text: 'Hello', ts: '2' } }))[0]).toBe(200)
  await expect.poll(() => requestsTo('/chat.postMessage'), ask).toHaveLength(2)
  const posted = requestsTo('/chat.postMessage')
  expect(posted.map(({ content }) => content)).toEqual([
    { channel: 'D1', text: 'One tea, your order number 1.' },
    { channel: 'D1', text: 'What would you like?\n• tea\n• coffee' },
  ])
  expect(posted[0]!.headers.authorization).toBe('Bearer xoxb-1')
})

test('telegram registers its webhook, and answers what comes through it', async () => {
  const { integrations } = await deploy('telegram', { TELEGRAM_TOKEN: '42:abc' })
  expect(integrations['telegram']).toMatchObject({ status: 'registered' })
  const [{ content }] = requestsTo('/bot42:abc/setWebhook') as [ReturnType<typeof requestsTo>[0]]
  expect(content['url']).toBe(integrations['telegram']!.webhookUrl)
  const from = { id: 5, is_bot: false, first_name: 'Ann' }
  const update = { update_id: 7, message: { text: 'A tea, please', chat: { id: -100 }, from } }
  const secretHeader = 'X-Telegram-Bot-Api-Secret-Token'
  const url = String(content['url'])
  expect(await post(url, { [secretHeader]: 'another' }, update)).toEqual([401, ''])
  const headers = { [secretHeader]: String(content['secret_token']) }
  for (const [status] of [await post(url, headers, update), await post(url, headers, update)]) expect(status).toBe(200)
  await expect.poll(() => requestsTo('/bot42:abc/sendMessage'), ask).toHaveLength(1)
  expect(requestsTo('/bot42:abc/sendMessage')[0]!.content).toMatchObject({
    chat_id: '-100',
    text: 'One tea, your order number 1.',
  })
})
