import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer } from '../../../api/server.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { loadHandler, openDevelopmentMachine } from '../../support/development-machine.ts'
import { createMember } from '../../support/members.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, send, type Platform } from '../../support/platform.ts'
import { startProcess } from '../../support/processes.ts'
import { bundleSdk } from '../../sdk/bundle.ts'

let platform: Platform
let tunnelUrl: string
let echo: ReturnType<typeof loadHandler>
let integration: typeof echo
const environment = { BP_API_URL: process.env['BP_API_URL'], BP_TOKEN: process.env['BP_TOKEN'] }
beforeAll(async () => {
  platform = await openPlatform({ backEnd: 'postgres' })
  const { url, token } = platform
  // The environment that `bp dev` gives to code.
  Object.assign(process.env, { BP_API_URL: url, BP_TOKEN: token })
  echo = loadHandler(await bundleSdk('echo-bot.ts'))
  integration = loadHandler(await bundleSdk('integration.ts'))
  tunnelUrl = (await platform.ask('GET', '/v1/admin/tunnel')).body.url
})
afterAll(async () => {
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  await platform?.[Symbol.asyncDispose]()
})

/** The address that the published command line gives to the platform. */
const urlOf = (id: string) => `${platform.url}/${id}`

const isReady = (port: number) =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

async function createDevBot(url: string): Promise<{ id: string; chatUrl: string }> {
  const { body } = await platform.ask('POST', '/v1/admin/bots', { dev: true, url })
  expect(body.bot).toMatchObject({ dev: true })
  return { id: body.bot.id, chatUrl: body.bot.integrations.chat.webhookUrl }
}

async function say(chatUrl: string, text: string) {
  const user = await createChatUser(chatUrl)
  const conversationId = await user.createConversation()
  await user.send(conversationId, text)
  return async () => (await user.messages(conversationId)).map((message) => message.text)
}

test('a bot under development answers from its author’s machine, whose tunnel ends at any of the api processes', async () => {
  const { context } = platform
  await using second = await startServer({
    ...context,
    config: { ...context.config, http: { ...context.config.http, port: 0 } },
  })
  const id = randomUUID()
  using machine = await openDevelopmentMachine(
    tunnelUrl.replace(platform.url, `http://127.0.0.1:${second.port}`),
    id,
    echo,
  )
  const { id: botId, chatUrl } = await createDevBot(urlOf(id))
  // Longer than a notification of PostgreSQL.
  const text = 'Hello '.repeat(2000)
  await expect.poll(await say(chatUrl, text), { timeout: 15_000 }).toEqual([text, `You said: ${text}`])
  const { body: called } = await platform.ask(
    'POST',
    '/v1/chat/actions',
    { type: 'greet', input: { name: 'Ada' } },
    { 'x-bot-id': botId },
  )
  expect(called.output).toEqual({ text: 'Hello Ada' })
  expect(machine.requests.map(({ headers }) => headers['x-bp-operation'])).toEqual([
    'event_received',
    'action_triggered',
  ])
})

test('an event waits for the tunnel of a bot under development, and is sent again', async () => {
  const id = randomUUID()
  const { id: botId, chatUrl } = await createDevBot(urlOf(id))
  const heard = await say(chatUrl, 'Early')
  await expect
    .poll(() => platform.context.db('events').where({ bot_id: botId }).pluck('failures'), { timeout: 10_000 })
    .toEqual([1])
  using machine = await openDevelopmentMachine(tunnelUrl, id, echo)
  await expect.poll(heard, { timeout: 15_000 }).toEqual(['Early', 'You said: Early'])
  expect(machine.requests).toHaveLength(1)
})

test('an event whose tunnel ended with the process of its connection is sent again through the next connection', async () => {
  const id = randomUUID()
  const port = await freePort()
  const api = await startProcess(platform, 'api', { PORT: String(port), HOST: '127.0.0.1' })
  try {
    await expect.poll(() => isReady(port), { timeout: 30_000 }).toBe(true)
    const nearUrl = tunnelUrl.replace(platform.url, `http://127.0.0.1:${port}`)
    using former = await openDevelopmentMachine(nearUrl, id, () => new Promise(() => {}))
    const { chatUrl } = await createDevBot(urlOf(id))
    const heard = await say(chatUrl, 'Held')
    await expect.poll(() => former.requests.length, { timeout: 15_000 }).toBe(1)
    api.kill()
    await api.exited
    using machine = await openDevelopmentMachine(tunnelUrl, id, echo)
    await expect.poll(heard, { timeout: 20_000 }).toEqual(['Held', 'You said: Held'])
    expect(machine.requests).toHaveLength(1)
  } finally {
    await api.stop()
  }
})

test('an integration under development registers, takes webhooks and runs actions on its author’s machine', async () => {
  const id = randomUUID()
  using machine = await openDevelopmentMachine(tunnelUrl, id, integration)
  const definition = {
    name: 'mirror',
    version: '1.0.0',
    channels: {
      channel: {
        messages: { text: { schema: {} } },
        conversation: { tags: { peer: {} } },
        message: { tags: { outside: {} } },
      },
    },
    user: { tags: { peer: {} } },
    actions: { lookUp: { input: { schema: {} }, output: { schema: {} } } },
  }
  const create = (fields: object) => platform.ask('POST', '/v1/admin/integrations', { ...definition, ...fields })
  const deployed = await create({ code: await bundleSdk('integration.ts') })
  const { body: created } = await create({ dev: true, url: urlOf(id) })
  expect(created.integration).toMatchObject({ dev: true, url: urlOf(id) })
  // Look-ups by name and lists find what is deployed.
  const named = await platform.ask('GET', '/v1/admin/integrations/mirror/latest')
  expect(named.body.integration.id).toBe(deployed.body.integration.id)
  const listed = await platform.ask('GET', '/v1/admin/integrations?name=mirror')
  expect(listed.body.integrations.map((one: { id: string }) => one.id)).toEqual([deployed.body.integration.id])

  const bot = await platform.createBot()
  const install = (configuration: object) =>
    platform.ask('PUT', `/v1/admin/bots/${bot.id}`, {
      integrations: { mirror: { integrationId: created.integration.id, enabled: true, configuration } },
    })
  const refused = await install({ refuse: true })
  expect(refused.body.bot.integrations.mirror).toMatchObject({
    status: 'registration_failed',
    statusReason: expect.stringContaining('The configuration is refused'),
  })
  const { mirror } = (await install({})).body.bot.integrations
  expect(mirror).toMatchObject({ status: 'registered', version: 'dev' })
  const taken = await fetch(mirror.webhookUrl, { method: 'POST', body: JSON.stringify({ from: 'Ada', text: 'Hi' }) })
  expect([taken.status, taken.headers.get('x-taken'), await taken.text()]).toEqual([202, 'Ada', 'taken'])
  const headers = { 'x-bot-id': bot.id }
  const { body: called } = await platform.ask(
    'POST',
    '/v1/chat/actions',
    { type: 'mirror:lookUp', input: { what: 'A' } },
    headers,
  )
  expect(called.output.found).toMatch(/^A by/)
  expect(machine.requests.map((request) => request.headers['x-bp-operation'])).toEqual([
    'register',
    'register',
    'webhook_received',
    'action_triggered',
  ])
})

test('a tunnel is open to developers of its workspace, and to the bots of that workspace only', async () => {
  const id = randomUUID()
  const requests = {
    viewer: await createMember(platform, 'viewer', platform.workspaceId),
    stranger: await createMember(platform, 'developer'),
  }
  expect((await platform.ask('GET', '/v1/admin/tunnel', undefined, requests.viewer)).status).toBe(403)
  await expect(openDevelopmentMachine(`${tunnelUrl}x`, id, echo)).rejects.toThrow('401')
  const theirs = await platform.ask('GET', '/v1/admin/tunnel', undefined, requests.stranger)
  // A stranger's tunnel of the same id gets nothing of this workspace's bot.
  using stranger = await openDevelopmentMachine(theirs.body.url, id, echo)
  const { chatUrl } = await createDevBot(urlOf(id))
  using own = await openDevelopmentMachine(tunnelUrl, id, echo)
  await expect.poll(await say(chatUrl, 'Ours'), { timeout: 15_000 }).toEqual(['Ours', 'You said: Ours'])
  expect([own.requests.length, stranger.requests.length]).toEqual([1, 0])
  // A member who is removed loses the tunnel's key at once.
  await platform.context
    .db('members')
    .where({ workspace_id: requests.stranger['x-workspace-id'] })
    .update({ role: 'viewer' })
  await expect(openDevelopmentMachine(theirs.body.url, randomUUID(), echo)).rejects.toThrow('401')
})

test('the newest connection has the tunnel; invalid and too large frames close it, and so does too many of them', async () => {
  const id = randomUUID()
  using former = await openDevelopmentMachine(tunnelUrl, id, echo)
  using machine = await openDevelopmentMachine(tunnelUrl, id, echo)
  expect((await former.closed).code).toBe(4001)
  const { chatUrl } = await createDevBot(urlOf(id))
  await expect.poll(await say(chatUrl, 'Hi'), { timeout: 15_000 }).toEqual(['Hi', 'You said: Hi'])
  machine.socket.send(JSON.stringify({ type: 'response', requestId: 'unknown', status: 200 }))
  machine.socket.send(JSON.stringify({ type: 'hello' }))
  machine.socket.send('no JSON')
  expect((await machine.closed).code).toBe(4002)
  using large = await openDevelopmentMachine(tunnelUrl, id, echo)
  large.socket.send('x'.repeat(1024 * 1024 + 1))
  expect((await large.closed).code).toBe(1009)
  using busy = await openDevelopmentMachine(tunnelUrl, id, echo)
  for (let sent = 0; sent < 200; sent++) busy.socket.send(JSON.stringify({ type: 'hello' }))
  expect((await busy.closed).code).toBe(4002)
})

test('a workspace has a bounded number of tunnels', async () => {
  const { url } = (await platform.ask('GET', '/v1/admin/tunnel', undefined, await createMember(platform, 'developer')))
    .body
  using machines = new DisposableStack()
  for (let opened = 0; opened < 20; opened++) machines.use(await openDevelopmentMachine(url, `tunnel-${opened}`, echo))
  await expect(openDevelopmentMachine(url, 'one-too-many', echo)).rejects.toThrow('413')
  machines.use(await openDevelopmentMachine(url, 'tunnel-7', echo))
})

test.for([
  ['an address of the platform', () => ({ dev: true, url: `${platform.url}/v1/admin/bots` }), 'not that of a tunnel'],
  ['another protocol', () => ({ dev: true, url: 'file:///etc/passwd' }), 'http or https'],
  ['a password', () => ({ dev: true, url: 'https://me:secret@example.com' }), 'without user'],
  ['a bot that is not under development', () => ({ url: 'https://example.com' }), 'only with dev: true'],
] as const)('the url of code is refused when it is or has %s', async ([, fields, message]) => {
  for (const path of ['bots', 'integrations']) {
    const { status, body } = await platform.ask('POST', `/v1/admin/${path}`, {
      name: 'refused',
      version: '1.0.0',
      ...fields(),
    })
    expect([status, body.type, body.message]).toEqual([400, 'InvalidPayload', expect.stringContaining(message)])
  }
})

test('an event of code whose tunnel has another address than the platform fails with the remedy', async () => {
  const { id, chatUrl } = await createDevBot(`http://127.0.0.1:81/${randomUUID()}`)
  await say(chatUrl, 'Hi')
  const reasons = () => platform.context.db('events').where({ bot_id: id }).pluck('failure_reason')
  const { origin } = new URL(platform.url)
  await expect
    .poll(reasons, { timeout: 10_000 })
    .toEqual([expect.stringContaining(`run bp dev with a BP_TUNNEL_URL that begins with ${origin}`)])
})

test('the url of code at a private address gets no request', async () => {
  const { port } = new URL(platform.url)
  const { id, chatUrl } = await createDevBot(`http://127.0.0.1:${port === '80' ? 81 : 80}/`)
  const { id: userId } = (await send('POST', `${chatUrl}/users`, {})).body.user
  expect(userId).toBeDefined()
  await say(chatUrl, 'Hi')
  const events = () => platform.context.db('events').where({ bot_id: id }).select('failures', 'failure_reason')
  await expect
    .poll(events, { timeout: 10_000 })
    .toMatchObject([{ failures: 1, failure_reason: expect.stringContaining('not at a public address') }])
  expect(await endedEvents(platform, id, 0)).toEqual([])
})
