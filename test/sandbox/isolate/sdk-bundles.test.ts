import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bundle, HandlerResponse, Host, HostCall, Json, JsonObject, Outcome } from '#sandbox/protocol/contract.ts'
import { bundleSdk } from '../../sdk/bundle.ts'
import { callRun, done, logged, ok, openTestSandbox, sdkBot, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
let echoBot: Bundle
let integration: Bundle
beforeAll(async () => {
  sandbox = await openTestSandbox()
  echoBot = sdkBot(await bundleSdk('echo-bot.ts'), { BP_LOG_FORMAT: 'json' })
  integration = sdkBot(await bundleSdk('integration.ts'), { BP_LOG_FORMAT: 'json', SECRET_NAME: 'a secret' })
})
afterAll(() => sandbox.close())

interface Asked {
  operation: string
  type?: string
  body?: JsonObject
  configuration?: JsonObject
  headers?: Record<string, string>
}

/** A run of a bundle for a request as the platform makes it. */
function requestRun(bundle: Bundle, { operation, type, body, configuration, headers }: Asked, host?: Host) {
  const argument = {
    method: 'POST',
    path: '/',
    query: '',
    headers: {
      'x-bot-id': 'bot_1',
      'x-bot-user-id': 'user_bot',
      'x-integration-id': 'intver_1',
      'x-integration-alias': 'mail',
      'x-webhook-id': 'wh_1',
      'x-bp-operation': operation,
      'x-bp-type': type ?? operation,
      'x-bp-configuration': Buffer.from(JSON.stringify(configuration ?? {})).toString('base64'),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  }
  return callRun(bundle, { argument }, host && { host })
}

/** A host with these replies, by method and path; it records the calls. */
function platform(replies: Record<string, Json>): { host: Host; calls: HostCall[] } {
  const calls: HostCall[] = []
  return {
    calls,
    host: async (call) => {
      calls.push(call)
      const reply = replies[`${call.method} ${call.path}`]
      if (reply !== undefined) return ok(reply)
      return {
        status: 404,
        body: { id: 'err_1', code: 404, type: 'ResourceNotFound', message: 'There is no such thing' },
      }
    },
  }
}

function responseOf(outcome: Outcome): HandlerResponse {
  return done(outcome).result as unknown as HandlerResponse
}

const message = (text: string, conversationId = 'conv_1') => ({
  id: 'msg_1',
  createdAt: '2026-01-02T03:04:05.678Z',
  type: 'text',
  payload: { text },
  tags: {},
  conversationId,
  userId: 'user_1',
  direction: 'incoming',
})

const messageEvent = (text: string, conversationId = 'conv_1'): Asked => ({
  operation: 'event_received',
  type: 'message_created',
  body: {
    event: {
      id: 'evt_1',
      type: 'message_created',
      payload: { message: message(text, conversationId), user: { id: 'user_1' }, conversation: { id: conversationId } },
    },
  },
})

const counting = (conversationId = 'conv_1') => ({
  'POST /v1/chat/messages': { message: message('sent') },
  [`POST /v1/chat/states/conversation/${conversationId}/counter/get-or-set`]: { state: { payload: { n: 0 } } },
  [`POST /v1/chat/states/conversation/${conversationId}/counter`]: { state: { payload: { n: 1 } } },
})

describe('a bot made with the SDK', () => {
  test('answers a message with exactly the calls that its client makes', async () => {
    const { host, calls } = platform(counting())
    const outcome = await sandbox.run(requestRun(echoBot, messageEvent('Grüße 👋'), host))
    expect(responseOf(outcome)).toEqual({ status: 200, headers: {} })
    expect(calls).toEqual([
      {
        method: 'POST',
        path: '/v1/chat/messages',
        body: {
          payload: { text: 'You said: Grüße 👋' },
          userId: 'bot_1',
          conversationId: 'conv_1',
          type: 'text',
          tags: {},
        },
      },
      {
        method: 'POST',
        path: '/v1/chat/states/conversation/conv_1/counter/get-or-set',
        body: { payload: { n: 0 } },
      },
      { method: 'POST', path: '/v1/chat/states/conversation/conv_1/counter', body: { payload: { n: 1 } } },
    ])
  })

  test('answers an action with its output', async () => {
    const body = { type: 'greet', input: { name: 'Ada' } }
    const outcome = await sandbox.run(requestRun(echoBot, { operation: 'action_triggered', type: 'greet', body }))
    const response = responseOf(outcome)
    expect(response.status).toBe(200)
    expect(JSON.parse(response.body ?? '')).toEqual({ output: { text: 'Hello Ada' } })
    expect(outcome.logs).toMatchObject([
      { level: 'info', message: expect.stringMatching(/^greeting \{ name: 'Ada' \}$/) },
    ])
  })

  test('handles an event, and what it logs keeps its level and its words', async () => {
    const { host, calls } = platform({ 'PUT /v1/chat/conversations/conv_1': { conversation: {} } })
    const event = { id: 'evt_1', type: 'custom', payload: {}, conversationId: 'conv_1' }
    const outcome = await sandbox.run(
      requestRun(echoBot, { operation: 'event_received', type: 'custom', body: { event } }, host),
    )
    expect(calls).toMatchObject([{ body: { tags: { seen: 'custom' } } }])
    expect(outcome.logs).toMatchObject([{ level: 'warn', message: 'an event: custom' }])
  })

  test('answers 400 when the platform refuses a call, with its words', async () => {
    const { host, calls } = platform({})
    const response = responseOf(await sandbox.run(requestRun(echoBot, messageEvent('x'), host)))
    expect(calls).toHaveLength(1)
    expect(response.status).toBe(400)
    expect(JSON.parse(response.body ?? '')).toMatchObject({ type: 'Runtime', message: 'There is no such thing' })
  })

  test('answers registration and a ping', async () => {
    for (const operation of ['register', 'ping']) {
      expect(responseOf(await sandbox.run(requestRun(echoBot, { operation })))).toEqual({ status: 200, headers: {} })
    }
  })

  test('rejects a request without its headers, which fails the run', async () => {
    const run = requestRun(echoBot, { operation: 'ping', headers: { 'x-bot-id': '' } })
    expect(await sandbox.run(run)).toMatchObject({
      status: 'failed',
      reason: 'error',
      error: { name: 'Error', message: 'Missing bot id header' },
    })
  })

  test('answers many conversations at once, each through its own run', async () => {
    const conversations = Array.from({ length: 8 }, (_, index) => `conv_${index}`)
    const all = conversations.map(async (id) => {
      const { host, calls } = platform(counting(id))
      const outcome = await sandbox.run(requestRun(echoBot, messageEvent(id, id), host))
      return { status: responseOf(outcome).status, paths: calls.map((call) => call.path), text: calls[0]?.body }
    })
    expect(await Promise.all(all)).toMatchObject(
      conversations.map((id) => ({
        status: 200,
        paths: [
          '/v1/chat/messages',
          `/v1/chat/states/conversation/${id}/counter/get-or-set`,
          `/v1/chat/states/conversation/${id}/counter`,
        ],
        text: { conversationId: id },
      })),
    )
  })

  test('runs unminified as well', async () => {
    const bundle = sdkBot(await bundleSdk('echo-bot.ts', { minify: false }))
    const { host, calls } = platform(counting())
    expect(responseOf(await sandbox.run(requestRun(bundle, messageEvent('x'), host))).status).toBe(200)
    expect(calls).toHaveLength(3)
  })
})

describe('an integration made with the SDK', () => {
  test('registers with the platform', async () => {
    const { host, calls } = platform({ 'POST /v1/chat/integrations/configure': {} })
    const run = requestRun(
      integration,
      { operation: 'register', configuration: { account: 'acct' }, body: { webhookUrl: 'https://example.com/wh_1' } },
      host,
    )
    const outcome = await sandbox.run(run)
    expect(responseOf(outcome).status).toBe(200)
    expect(calls).toEqual([{ method: 'POST', path: '/v1/chat/integrations/configure', body: { identifier: 'acct' } }])
    expect(logged(outcome)).toEqual(['registering at https://example.com/wh_1'])
  })

  test('answers 400 with its words when it refuses to be registered', async () => {
    const asked = { operation: 'register', configuration: { refuse: true }, body: { webhookUrl: '' } }
    const response = responseOf(await sandbox.run(requestRun(integration, asked)))
    expect(response.status).toBe(400)
    expect(JSON.parse(response.body ?? '')).toMatchObject({ type: 'Runtime', message: 'The configuration is refused' })
  })

  test('takes in a message at its webhook, and answers it as it likes', async () => {
    const { host, calls } = platform({
      'POST /v1/chat/conversations/get-or-create': { conversation: { id: 'conv_1' } },
      'POST /v1/chat/users/get-or-create': { user: { id: 'user_1' } },
      'POST /v1/chat/messages': { message: message('x') },
    })
    const req = { method: 'POST', path: '/', query: '', headers: {}, body: JSON.stringify({ from: 'ada', text: 'hi' }) }
    const outcome = await sandbox.run(requestRun(integration, { operation: 'webhook_received', body: { req } }, host))
    expect(responseOf(outcome)).toEqual({ status: 202, headers: { 'x-taken': 'ada' }, body: 'taken' })
    expect(calls).toMatchObject([
      { path: '/v1/chat/conversations/get-or-create', body: { channel: 'channel', tags: { peer: 'ada' } } },
      { path: '/v1/chat/users/get-or-create', body: { tags: { peer: 'ada' } } },
      { path: '/v1/chat/messages', body: { conversationId: 'conv_1', userId: 'user_1', payload: { text: 'hi' } } },
    ])
  })

  test('delivers a message to its channel and acknowledges it', async () => {
    const { host, calls } = platform({
      'GET /v1/chat/users/user_1': { user: { id: 'user_1' } },
      'PUT /v1/chat/messages/msg_1': { message: message('x') },
    })
    const body = {
      type: 'text',
      payload: { text: 'out' },
      message: message('out'),
      user: { id: 'user_1' },
      conversation: { id: 'conv_1', channel: 'channel' },
    }
    const outcome = await sandbox.run(requestRun(integration, { operation: 'message_created', body }, host))
    expect(responseOf(outcome).status).toBe(200)
    expect(calls).toEqual([
      { method: 'GET', path: '/v1/chat/users/user_1' },
      { method: 'PUT', path: '/v1/chat/messages/msg_1', body: { tags: { outside: 'OUT' } } },
    ])
  })

  test('performs its actions with its secrets', async () => {
    const body = { type: 'lookUp', input: { what: 'it' } }
    const response = responseOf(await sandbox.run(requestRun(integration, { operation: 'action_triggered', body })))
    expect(JSON.parse(response.body ?? '')).toMatchObject({ output: { found: 'it by a secret' } })
  })
})
