import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { storeIntegration, installIntegration } from '../support/install-integration.ts'
import { startTarget, type Target } from '../worker/outbound/fixture.ts'
import { openPlatform, send, type Platform } from '../support/platform.ts'

const code = `
export const actions = {
  add: ({ input }) => ({ sum: input.a + input.b }),
  fail: () => { throw new Error('the shop is closed') },
  plain: ({ input }) => ({ got: input }),
}
export const actionDefinitions = {
  add: {
    title: 'Add',
    description: 'Adds two numbers.',
    input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  },
}
`

/** A bot that calls tools of an MCP server. */
const botWithClient = `
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

export const actions = {
  async ask({ input, env }) {
    const client = new Client({ name: 'bot', version: '1' })
    const requestInit = { headers: { authorization: 'Bearer ' + env.SECRET_SHOP_KEY } }
    await client.connect(new StreamableHTTPClientTransport(new URL(input.address), { requestInit }))
    const { tools } = await client.listTools()
    const { structuredContent } = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })
    await client.close()
    return { tools: tools.map(({ name }) => name), ...structuredContent }
  },
}
`

let platform: Platform
let botId: string
beforeAll(async () => {
  platform = await openPlatform({ environment: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' } })
  botId = (await platform.createBot(code)).id
})
afterAll(() => platform[Symbol.asyncDispose]())

/** An MCP server with one tool, which answers with server-sent events. */
async function serveTools(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { server } = new McpServer({ name: 'shop', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'add', inputSchema: { type: 'object' } }],
  }))
  server.setRequestHandler(CallToolRequestSchema, ({ params: { arguments: { a, b } = {} } }) => ({
    content: [],
    structuredContent: { sum: Number(a) + Number(b), authorization: request.headers.authorization },
  }))
  const transport = new StreamableHTTPServerTransport()
  await server.connect(transport)
  await transport.handleRequest(request, response)
}

/** Sends a part until the client is gone. */
function sendForever(response: ServerResponse, type: string, part: string): void {
  response.writeHead(200, { 'content-type': type })
  const timer = setInterval(() => response.write(part), 1)
  response.on('close', () => clearInterval(timer))
}

async function connect(id: string, token: string): Promise<AsyncDisposable & { client: Client }> {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${platform.url}/mcp/${id}`), { requestInit: { headers } }),
  )
  return { client, [Symbol.asyncDispose]: () => client.close() }
}

async function keyOf(id: string): Promise<string> {
  return (await platform.ask('POST', '/v1/admin/bots/baks', { botId: id, note: 'mcp' })).body.value
}

/** Sends one message as a client without the library. */
function post(id: string, message: unknown, headers: Record<string, string | undefined> = {}) {
  return send('POST', `${platform.url}/mcp/${id}`, message, {
    authorization: `Bearer ${platform.token}`,
    accept: 'application/json, text/event-stream',
    ...headers,
  })
}

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

describe('the official client', () => {
  test('lists the bot’s actions with their schemas, and calls one with a key of the bot', async () => {
    await using connected = await connect(botId, await keyOf(botId))
    const { tools } = await connected.client.listTools()
    expect(tools).toEqual([
      {
        name: 'add',
        title: 'Add',
        description: 'Adds two numbers.',
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number' } },
          required: ['a', 'b'],
        },
      },
      { name: 'fail', inputSchema: { type: 'object' } },
      { name: 'plain', inputSchema: { type: 'object' } },
    ])
    const result = await connected.client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })
    expect(result).toEqual({ content: [{ type: 'text', text: '{"sum":5}' }], structuredContent: { sum: 5 } })
    const [event] = (await platform.ask('GET', `/v1/admin/bots/${botId}/events`)).body.events
    expect(event).toMatchObject({ type: 'action_triggered', status: 'processed' })
  })

  test('reads the output of an action that is no object as text alone', async () => {
    const { id } = await platform.createBot(`export const actions = { list: () => [1, 2], word: () => 'two' }`)
    await using connected = await connect(id, platform.token)
    const results = ['list', 'word'].map((name) => connected.client.callTool({ name, arguments: {} }))
    expect(await Promise.all(results)).toEqual(
      ['[1,2]', '"two"'].map((text) => ({ content: [{ type: 'text', text }] })),
    )
  })

  test('reads the failure of an action, and an input that does not fit, as results; each call is counted', async () => {
    const counted = async () => {
      const { values } = await platform.context.metrics.mcpToolCalls.get()
      return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
    }
    const before = await counted()
    await using connected = await connect(botId, platform.token)
    const failed = await connected.client.callTool({ name: 'fail', arguments: {} })
    expect(failed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('the shop is closed') }] })
    const unfit = await connected.client.callTool({ name: 'add', arguments: { a: 'two', b: 3 } })
    expect(unfit).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/input.*number/) }] })
    await expect(connected.client.callTool({ name: 'gone', arguments: {} })).rejects.toThrow("no action 'gone'")
    await connected.client.callTool({ name: 'plain', arguments: {} })
    const { completed = 0, failed: failures = 0, refused = 0 } = before
    expect(await counted()).toEqual({ completed: completed + 1, failed: failures + 1, refused: refused + 2 })
  })

  test('gets actions of a bundle of the public SDK from its definition, page by page', async () => {
    const schema = { type: 'object', properties: { text: { type: 'string', description: 'x'.repeat(500) } } }
    const action = { title: 'One of many', input: { schema }, output: { schema: { type: 'object' } } }
    const actions = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`action${100 + index}`, action]))
    const bundle = 'exports.handler = async () => ({ status: 200, body: "{}" })'
    const { id } = await platform.createBot(bundle, { actions })
    await using connected = await connect(id, platform.token)
    const first = await connected.client.listTools()
    expect(first.tools).toHaveLength(500)
    const rest = []
    for (let cursor = first.nextCursor; cursor;) {
      const page = await connected.client.listTools({ cursor })
      rest.push(...page.tools)
      cursor = page.nextCursor
    }
    expect([...first.tools, ...rest].map(({ name }) => name)).toEqual(Object.keys(actions))
    expect(rest.at(-1)).toEqual({ name: 'action699', title: 'One of many', inputSchema: schema })
  })
})

/** Calls the tools of a server at this path, as a bot that may request this server. */
async function ask(server: Target, path: string, limits = {}) {
  const { outputFiles } = await build({
    stdin: { contents: botWithClient, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const permissions = { net: [`127.0.0.1:${server.port}`] }
  const bot = await platform.createBot(outputFiles[0]!.text, { permissions, limits, secrets: { SHOP_KEY: 'shop' } })
  const call = { type: 'ask', input: { address: `http://127.0.0.1:${server.port}${path}` } }
  return platform.ask('POST', '/v1/chat/actions', call, { 'x-bot-id': bot.id })
}

describe('a bot with the official client bundled in its code', () => {
  test('calls tools of a server that answers with streams', async () => {
    await using server = await startTarget((request, response) => void serveTools(request, response))
    const { status, body } = await ask(server, '/')
    expect([status, body.output]).toEqual([200, { tools: ['add'], sum: 5, authorization: 'Bearer shop' }])
  })

  test.each([
    ['whose stream never ends', '/endless', { wallMilliseconds: 3000 }, /wallMilliseconds|time/],
    ['whose list of tools is larger than a response may be', '/huge', {}, /larger|bytes|MB/],
    ['which redirects to a host that is not granted', '/elsewhere', {}, /mcp\.example/],
  ])('fails by name with a server %s', async (_title, path, limits, message) => {
    await using server = await startTarget((request, response) => {
      if (path === '/elsewhere') return void response.writeHead(307, { location: 'http://mcp.example/' }).end()
      if (path === '/huge') return sendForever(response, 'application/json', '[1,'.padEnd(100_000))
      sendForever(response, 'text/event-stream', ': alive\n\n')
      request.resume()
    })
    const { status, body } = await ask(server, path, limits)
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)])
  })
})

describe('is refused:', () => {
  test('a client without a token, with a foreign bot’s key, or with the token of an integration', async () => {
    const nobody = await post(botId, list, { authorization: undefined })
    expect(nobody).toMatchObject({ status: 401, body: { type: 'Unauthorized' } })
    expect(nobody.headers.get('www-authenticate')).toBe('Bearer')
    const other = await keyOf((await platform.createBot(code)).id)
    expect(await post(botId, list, { authorization: `Bearer ${other}` })).toMatchObject({ status: 403 })
    const integration = await storeIntegration(platform)
    await installIntegration(platform, botId, integration, { alias: 'post' })
    const secret = randomUUID()
    const row = { id: newId('iak'), hash: hashToken(secret), kind: 'integration', integration_id: integration } as const
    await platform.context.db('tokens').insert(row)
    expect(await post(botId, list, { authorization: `Bearer ${secret}` })).toMatchObject({ status: 403 })
  })

  test('a page of another origin, and not one of the platform’s own', async () => {
    const refused = await post(botId, list, { origin: 'http://evil.example' })
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('evil.example') } })
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
    expect(await post(botId, list, { origin: platform.url })).toMatchObject({ status: 200 })
  })

  test.each([
    [
      'a list of messages, one of which cancels another',
      [list, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }],
      400,
    ],
    ['no message', { hello: 1 }, 400],
    ['a body that is no JSON', '{', 400],
    ['a body over the limit', JSON.stringify({ ...list, params: { cursor: 'x'.repeat(1024 * 1024) } }), 413],
    ['a cursor that is none', { ...list, params: { cursor: '-1' } }, 200],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'resources/list' }, 200],
  ])('%s', async (_title, message, status) => {
    const answer = await post(botId, message)
    expect(answer.status).toBe(status)
    expect(answer.body.error ?? answer.body).toMatchObject({ message: expect.any(String) })
  })

  test('a stream of notifications, and the end of a session', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await send(method, `${platform.url}/mcp/${botId}`, undefined, {
        authorization: `Bearer ${platform.token}`,
        accept: 'text/event-stream',
      })
      expect([status, headers.get('allow')]).toEqual([405, 'POST'])
    }
  })
})

test.each([
  ['names an action that the code has not', '{ gone: {} }', "actionDefinitions: there is no action 'gone'"],
  ['has an invalid schema', '{ add: { input: { type: 5 } } }', 'actionDefinitions: add.input'],
])('an upload whose actionDefinitions %s is refused', async (_title, definitions, message) => {
  const upload = `export const actions = { add: () => ({}) }\nexport const actionDefinitions = ${definitions}`
  await expect(platform.createBot(upload)).rejects.toThrow(message)
})
