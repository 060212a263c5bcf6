import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { installCode, logOf } from '../../support/install-code.ts'
import { endedEvents as allEndedEvents, replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { bundleSdk } from '../../sdk/bundle.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** The events of a bot, without that of its registration at the deployment. */
async function endedEvents(of: Platform, botId: string, count: number) {
  const events = await allEndedEvents(of, botId, count + 1)
  return events.filter(({ type }) => type !== 'register')
}

const anyTransfer = { input: { schema: {} }, output: { schema: {} } }

/** Deploys a bot, says something to it and waits for its end. */
async function tell(code: string, text = 'hello') {
  const bot = await platform.createBot(code)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, text)
  const [event] = await endedEvents(platform, bot.id, 1)
  return { bot, chatter: chatUser, conversationId, event: event! }
}

/** Writes what it is asked to the log, and then does this. */
const reporter = (rest = '') => `
  module.exports.handler = async (request) => {
    if (request.headers['x-bp-operation'] === 'register' && !request.headers['x-integration-id']) return {}
    const { body, ...others } = request
    if (request.headers['x-bp-operation'] !== 'ping') console.info('asked ' + JSON.stringify({ ...others, body: JSON.parse(body), env: process.env }))
    ${rest}
  }`

/** The calls to a reporter, oldest first. */
async function asked(botId: string) {
  const lines = await logOf(platform, botId)
  return lines
    .filter((line) => line.startsWith('info asked '))
    .map((line) => JSON.parse(line.slice('info asked '.length)))
}

const callAction = (botId: string, type: string, input: object) =>
  platform.ask('POST', '/v1/chat/actions', { type, input }, { 'x-bot-id': botId })

describe('a bot made with the public SDK', () => {
  let echo: string
  beforeAll(async () => {
    echo = await bundleSdk('echo-bot.ts')
  })

  test('answers a chat, and keeps a state', async () => {
    const { bot, chatter: chatUser, conversationId, event } = await tell(echo, 'hi there')
    expect(event).toMatchObject({ status: 'processed', attempt: 1 })
    expect(await replies(platform, conversationId)).toEqual(['You said: hi there'])
    await chatUser.send(conversationId, 'again')
    await endedEvents(platform, bot.id, 2)
    const [state] = await platform.context.db('states').where({ owner_id: conversationId, name: 'counter' })
    expect(state!.payload).toEqual({ n: 2 })
  })

  test('has its actions called over HTTP, and writes to its log', async () => {
    const { id } = await platform.createBot(echo)
    expect(await callAction(id, 'greet', { name: 'Ann' })).toMatchObject({
      status: 200,
      body: { output: { text: 'Hello Ann' } },
    })
    expect(await logOf(platform, id)).toEqual([expect.stringContaining('info greeting')])
    expect(await callAction(id, 'dance', {})).toMatchObject({ status: 400, body: { type: 'Runtime' } })
  })

  test('receives events', async () => {
    const { bot, conversationId } = await tell(echo)
    const event = { type: 'sold', payload: { of: 'books' }, conversationId }
    expect(await platform.ask('POST', '/v1/chat/events', event, { 'x-bot-id': bot.id })).toMatchObject({ status: 201 })
    await endedEvents(platform, bot.id, 2)
    const [conversation] = await platform.context.db('conversations').where({ id: conversationId })
    expect(conversation!.tags).toMatchObject({ seen: 'sold' })
  })
})

test('a bundle of the public SDK imports modules of Node with import(), in large modules too, and keeps texts about it', async () => {
  const code = `
    exports.handler = async ({ headers }) => {
      if (headers['x-bp-operation'] !== 'action_triggered') return { status: 200 }
      const { createHash } = await import("crypto")
      const output = { text: 'await import("crypto")', hash: createHash('md5').update('a').digest('hex') }
      return { status: 200, body: JSON.stringify({ output }) }
    }
    exports.filler = "${'x'.repeat(1_500_000)}"`
  const { id } = await platform.createBot(code)
  const output = { text: 'await import("crypto")', hash: '0cc175b9c0f1b6a831c399e269772661' }
  expect(await callAction(id, 'hash', {})).toMatchObject({ status: 200, body: { output } })
})

describe('the logger of the public SDK', () => {
  test('writes errors with their stacks and causes, and what maps, sets and numbers of any length have', async () => {
    const { bot } = await tell(await bundleSdk('logging-bot.ts'))
    const [failed, listed] = await logOf(platform, bot.id)
    expect(failed).toMatch(/^error The order failed: RefusedError: The card is refused\n {4}at order \(.*:\d+:\d+\)\n/)
    expect(failed).toMatch(/\n {2}code: 402,\n {2}\[cause\]: TypeError: No such card\n {6}at order \(.*:\d+:\d+\)\n/)
    expect(listed).toBe(`info Ann has Map(1) { 'books' => Set(1) { 1n } } URLSearchParams {}`)
  })
})

describe('an integration made with the public SDK', () => {
  test('registers, takes in, carries out and has its actions called', async () => {
    const { id } = await platform.createBot(await bundleSdk('echo-bot.ts'))
    const integration = await bundleSdk('integration.ts')
    const installed = await installCode(platform, id, integration, {
      configuration: { account: 'acme' },
      definition: { actions: { lookUp: anyTransfer }, secrets: { NAME: 'Ann' } },
    })
    expect(installed).toMatchObject({ status: 'registered' })
    const row = await platform.context.db('installations').where({ webhook_id: installed.webhookId }).first()
    expect(row!.identifier).toBe('acme')

    const body = JSON.stringify({ from: 'peer 1', text: 'hello' })
    const response = await fetch(installed.webhookUrl, { method: 'POST', body })
    expect([response.status, response.headers.get('x-taken'), await response.text()]).toEqual([202, 'peer 1', 'taken'])
    const said = platform.context.db('messages').where({ bot_id: id, direction: 'outgoing' })
    await expect
      .poll(async () => (await said.clone()).map(({ payload, tags }) => ({ ...payload, ...tags })), { timeout: 20_000 })
      .toEqual([{ text: 'You said: hello', 'tool:outside': 'YOU SAID: HELLO' }])

    expect(await callAction(id, 'tool:lookUp', { what: 'a book' })).toMatchObject({
      status: 200,
      body: { output: { found: 'a book by Ann' } },
    })
  })

  test('that refuses to register says why', async () => {
    const { id } = await platform.createBot()
    const installed = await installCode(platform, id, await bundleSdk('integration.ts'), {
      configuration: { refuse: true },
    })
    expect(installed).toMatchObject({
      status: 'registration_failed',
      statusReason: expect.stringContaining('The configuration is refused'),
    })
  })
})

describe('the requests of a handler', () => {
  test('for a message has the message, its conversation and its user, and the bot’s configuration, tags and secrets', async () => {
    const { id, chatUrl } = await platform.createBot(reporter())
    const settings = { configuration: { data: { language: 'fr' } }, tags: { tier: 'gold' }, secrets: { KEY: 'hush' } }
    expect(await platform.ask('PUT', `/v1/admin/bots/${id}`, settings)).toMatchObject({ status: 200 })
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    const { body } = await chatUser.send(conversationId, 'hello')
    const [event] = await endedEvents(platform, id, 1)
    const [request] = await asked(id)
    expect(request).toMatchObject({
      method: 'POST',
      path: '/',
      query: '',
      headers: {
        'x-bot-id': id,
        'x-bp-operation': 'event_received',
        'x-bp-type': 'message_created',
        // The fields alone are those of earlier releases; the SDK and the runtime of agents name `payload`.
        'x-bp-configuration': Buffer.from(
          JSON.stringify({ language: 'fr', payload: JSON.stringify({ language: 'fr' }) }),
        ).toString('base64'),
        'x-bp-tags': Buffer.from('{"tier":"gold"}').toString('base64'),
      },
      env: { BP_API_URL: expect.stringMatching(/^https:/), BP_LOG_FORMAT: 'json', SECRET_KEY: 'hush' },
    })
    expect(request.body.event).toMatchObject({
      id: event!.id,
      type: 'message_created',
      status: 'pending',
      conversationId,
      userId: chatUser.userId,
      messageId: body.message.id,
      payload: {
        message: {
          id: body.message.id,
          type: 'text',
          direction: 'incoming',
          payload: { text: 'hello' },
          conversationId,
          userId: chatUser.userId,
          tags: {},
        },
        conversation: { id: conversationId, channel: 'channel', integration: 'chat' },
        user: { id: chatUser.userId, tags: {} },
      },
    })
  })

  test('changes the tags of its own bot, and nothing else of it or of another bot', async () => {
    const other = await platform.createBot()
    const { id } = await platform.createBot(
      reporter(`
        const put = async (id, fields) => {
          const url = 'https://api.isobot.internal/v1/admin/bots/' + id
          const response = await fetch(url, { method: 'PUT', body: JSON.stringify({ id, ...fields }) })
          const { bot, message } = await response.json()
          return { status: response.status, tags: bot?.tags, integrations: bot?.integrations, message }
        }
        const input = JSON.parse(body).input
        const output = { answers: [] }
        for (const [id, fields] of input.puts) output.answers.push(await put(id, fields))
        return { status: 200, body: JSON.stringify({ output }) }`),
    )
    const admin = `/v1/admin/bots/${id}`
    await platform.ask('PUT', admin, { tags: { tier: 'gold', old: 'yes' } })
    const puts = [
      [id, { tags: { tier: 'silver', old: null, seen: '1' } }],
      [id, { tags: { tier: 'wood' }, permissions: { net: ['*'] } }],
      [id, { code: 'export const hooks = {}' }],
      [other.id, { tags: { tier: 'wood' } }],
    ]
    const { body } = await callAction(id, 'change', { puts })
    const tags = { tier: 'silver', seen: '1' }
    expect(body.output.answers).toEqual([
      { status: 200, tags, integrations: {} },
      { status: 403, message: expect.stringContaining('permissions') },
      { status: 403, message: expect.stringContaining('code') },
      { status: 404, message: expect.stringContaining(other.id) },
    ])
    expect((await platform.ask('GET', admin)).body.bot).toMatchObject({ tags, permissions: {} })
    const installed = await installCode(
      platform,
      other.id,
      reporter(`
        const url = 'https://api.isobot.internal/v1/admin/bots/${other.id}'
        const response = await fetch(url, { method: 'PUT', body: JSON.stringify({ tags: { tier: 'wood' } }) })
        return { status: response.status }`),
    )
    const answer = await fetch(installed.webhookUrl, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(403)
  })

  test('as an integration has who it is, and where its webhook is', async () => {
    const { id } = await platform.createBot()
    const installed = await installCode(platform, id, reporter(), { configuration: { a: 'é' } })
    await fetch(`${installed.webhookUrl}/sub?x=1`, { method: 'PUT', headers: { 'x-from': 'outside' }, body: '{"a":1}' })
    const [registering, webhook] = await asked(id)
    const webhookUrl = `${platform.url}/webhooks/${installed.webhookId}`
    expect(registering).toMatchObject({
      headers: {
        'x-bot-id': id,
        'x-bot-user-id': id,
        'x-bp-operation': 'register',
        'x-bp-type': expect.stringMatching(/./),
        'x-bp-configuration': Buffer.from('{"a":"é"}').toString('base64'),
        'x-integration-id': installed.integrationId,
        'x-integration-alias': 'tool',
        'x-webhook-id': installed.webhookId,
      },
      body: { webhookUrl },
      env: { BP_WEBHOOK_URL: platform.url },
    })
    // All that the contexts of SDK 5 to 7 read; the type of the configuration is absent for the only one.
    expect(Object.keys(registering.headers).toSorted()).toEqual([
      'content-type',
      'x-bot-id',
      'x-bot-user-id',
      'x-bp-configuration',
      'x-bp-operation',
      'x-bp-type',
      'x-integration-alias',
      'x-integration-id',
      'x-webhook-id',
    ])
    expect(Object.keys(registering.env).toSorted()).toEqual([
      'BP_API_URL',
      'BP_LOG_FORMAT',
      'BP_TOKEN',
      'BP_WEBHOOK_URL',
    ])
    expect(webhook).toMatchObject({
      headers: { 'x-bp-operation': 'webhook_received' },
      body: { req: { method: 'PUT', path: '/sub', query: 'x=1', headers: { 'x-from': 'outside' }, body: '{"a":1}' } },
    })
  })
})

describe('a handler that answers', () => {
  test('with 4xx has failed for good, by the words in its body', async () => {
    const { event } = await tell(reporter(`return { status: 400, body: '{"message":"I do not know how"}' }`))
    expect(event).toMatchObject({ status: 'failed', attempt: 1, failure_reason: 'I do not know how' })
  })

  test('with 5xx is asked again, while its conversation waits', async () => {
    const {
      bot,
      event,
      conversationId,
      chatter: chatUser,
    } = await tell(reporter('globalThis.tries = (globalThis.tries ?? 0) + 1; if (tries < 3) return { status: 503 }'))
    await chatUser.send(conversationId, 'after')
    await endedEvents(platform, bot.id, 2)
    expect(event).toMatchObject({ status: 'processed', attempt: 3, failures: 2 })
  })

  test.for([
    ['by rejecting', `throw new Error('not today')`, 'Error: not today'],
    ['with 500', `return { status: 500, body: '{"code":400,"message":"not today"}' }`, 'not today'],
  ] as const)('%s every time has failed after four times', { timeout: 30_000 }, async ([, rest, reason]) => {
    const { event } = await tell(reporter(rest))
    expect(event).toMatchObject({ status: 'failed', attempt: 4, failure_reason: reason })
  })

  test('an action with 5xx is not asked again, for its caller waits', async () => {
    const { id } = await platform.createBot(reporter(`return { status: 500, body: '{"message":"not today"}' }`))
    const answer = await callAction(id, 'greet', {})
    expect(answer).toMatchObject({ status: 400, body: { type: 'Runtime', message: 'not today' } })
    expect(await asked(id)).toHaveLength(1)
  })

  test('a webhook with a status of its own has that passed on', async () => {
    const { id } = await platform.createBot()
    const code = reporter(
      `if (request.headers['x-bp-operation'] === 'webhook_received') return { status: 401, body: 'who are you?' }`,
    )
    const { webhookUrl } = await installCode(platform, id, code)
    const response = await fetch(webhookUrl)
    expect([response.status, await response.text()]).toEqual([401, 'who are you?'])
  })
})

test('a changed secret holds at once, in an isolate of its own', async () => {
  const code = `module.exports.handler = async () => ({ body: JSON.stringify({ output: { key: process.env.SECRET_KEY } }) })`
  const { id } = await platform.createBot(code)
  for (const KEY of ['first', 'second']) {
    await platform.ask('PUT', `/v1/admin/bots/${id}`, { secrets: { KEY } })
    expect(await callAction(id, 'read', {})).toMatchObject({ body: { output: { key: KEY } } })
  }
})

describe('a bundle of the SDK has its actions called', () => {
  const greeter = `
    module.exports.handler = async ({ headers, body }) => {
      const { type, input, event } = JSON.parse(body)
      if (headers['x-bp-operation'] === 'action_triggered')
        return { body: JSON.stringify({ output: { text: type + ' ' + input.name } }) }
      if (headers['x-bp-operation'] !== 'event_received') return
      const post = (path, body) =>
        fetch(process.env.BP_API_URL + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
      const called = await post('/v1/chat/actions', { type: 'greet', input: { name: 'Bob' } })
      const { output } = await called.json()
      await post('/v1/chat/messages', { conversationId: event.conversationId, type: 'text', payload: output })
    }`

  test('by itself', async () => {
    const { conversationId } = await tell(greeter)
    expect(await replies(platform, conversationId)).toEqual(['greet Bob'])
  })

  test('by a bot of hooks on which it is installed', async () => {
    const { id, chatUrl } = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          const { output } = await client.callAction({ type: 'tool:greet', input: { name: 'Ann' } })
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: output.text } })
        },
      }`)
    await installCode(platform, id, greeter, { definition: { actions: { greet: anyTransfer } } })
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'go')
    await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toEqual(['greet Ann'])
  })
})
