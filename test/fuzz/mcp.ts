import type { Chances } from '../chaos/random.ts'
import type { FuzzRequest } from './requests.ts'
import type { Credentials, Tenant } from './tenant.ts'
import { mutate, oddTexts, oddValue } from './values.ts'

/** The `operation` of requests to the MCP server of a bot, which the OpenAPI document does not describe. */
export const mcpOperation = 'mcp'

const accepted = 'application/json, text/event-stream'
const methods = [
  ['initialize', 'ping', 'tools/list', 'tools/call', 'tools/call', 'tools/call'],
  ['resources/list', 'resources/read', 'prompts/get', 'logging/setLevel', 'completion/complete', 'tasks/get'],
  ['notifications/initialized', 'notifications/cancelled', 'notifications/progress', 'sampling/createMessage'],
  ['rpc.discover', '$/cancelRequest', 'constructor', '__proto__', 'toString', 'tools', 'tools/call/', ''],
].flat()
const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07', '1999-01-01', '', '2', 'é']
const accepts = [accepted, 'application/json', 'text/event-stream', '*/*', 'text/html', 'a/b;q=x', '']
const contentTypes = [
  'application/json; charset=utf-8',
  'text/plain',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  '',
]
const ids: readonly unknown[] = [
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  1e308,
  'a',
  '',
  '__proto__',
  'x'.repeat(20_000),
  null,
  true,
  [],
  {},
  [1],
]
const nesting = 5000

const call = (params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'tools/call', params })

/** Frames that no client sends, and what clients send with a credential or a bot that does not suffice. */
export function mcpRequests(own: Tenant, foreign: Tenant): FuzzRequest[] {
  const botId = own.ids['bots']![0]!
  const echo = call({ name: 'echo', arguments: { text: 'hi' } })
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  const deep = `${'['.repeat(nesting)}${']'.repeat(nesting)}`
  const bodies = [
    [],
    [echo],
    [echo, cancel],
    [cancel, echo, echo],
    Array.from({ length: 1000 }, () => echo),
    null,
    1,
    'x',
    true,
    {},
    ...ids.map((id) => call({ name: 'echo', arguments: {} }, id)),
    ...methods.map((method) => ({ jsonrpc: '2.0', id: 1, method })),
    ...['1.0', 2, null, undefined].map((jsonrpc) => ({ ...list, jsonrpc })),
    ...oddTexts.map((name) => call({ name, arguments: { name } })),
    ...[null, [], 'x', 1].map((given) => call({ name: 'echo', arguments: given })),
    ...[null, [], 'x', { name: null }, { name: 1 }, { arguments: {} }].map((params) => call(params)),
    ...oddTexts.map((cursor) => ({ ...list, params: { cursor } })),
    call({ name: 'echo', arguments: { text: 'x'.repeat(2 * 1024 * 1024) } }),
    call({ name: 'echo', arguments: JSON.parse('{"__proto__":{"polluted":true}}') as unknown }),
    call({ name: 'echo', arguments: {}, _meta: { progressToken: {} }, task: { ttl: 1e308 } }),
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } },
  ].map((body) => JSON.stringify(body))
  const texts = ['', '{', '\0', '{}{}', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${deep}}`, deep]
  const all = [...bodies, ...texts].map((body) => request(own, foreign, { botId, body }))
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  }
  const negotiations = versions.flatMap((version) => [
    request(own, foreign, {
      botId,
      body: JSON.stringify({ ...initialize, params: { ...initialize.params, protocolVersion: version } }),
    }),
    request(own, foreign, { botId, body: JSON.stringify(echo), headers: { 'mcp-protocol-version': version } }),
  ])
  const headers = [
    ...accepts.map((accept) => ({ accept })),
    ...contentTypes.map((type) => ({ 'content-type': type })),
    ...['null', 'http://evil.example', 'x', ''].map((origin) => ({ origin })),
    { 'mcp-session-id': 'x'.repeat(5000) },
    { 'last-event-id': '1' },
  ].map((given) => request(own, foreign, { botId, body: JSON.stringify(echo), headers: given }))
  const verbs = ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'].map((method) =>
    request(own, foreign, { botId, body: JSON.stringify(echo), method }),
  )
  const strangers = [...Object.values(own.credentials), {}].flatMap((credentials) =>
    [list, call({ name: 'echo', arguments: {} })].map((body) => ({
      ...request(own, foreign, { botId: foreign.ids['bots']![0]!, body: JSON.stringify(body) }),
      headers: { ...framed, ...credentials },
    })),
  )
  return [...all, ...negotiations, ...headers, ...verbs, ...strangers]
}

/** A random frame: often one that is answered, with some of its parts changed. */
export function randomMcpRequest(own: Tenant, foreign: Tenant, chances: Chances): FuzzRequest {
  const is = (probability: number) => chances.between(0, 1) < probability
  const frame = (): unknown => {
    const method = is(0.9) ? chances.pick(methods) : chances.pick(oddTexts)
    const name = is(0.6) ? 'echo' : chances.pick(oddTexts)
    const params =
      method === 'tools/call' ? { name, arguments: is(0.5) ? { text: 'hi' } : oddValue(chances) } : oddValue(chances)
    let value: unknown = {
      jsonrpc: '2.0',
      ...(is(0.9) && { id: is(0.6) ? 1 : chances.pick(ids) }),
      method,
      ...(is(0.8) && { params }),
    }
    while (is(0.2)) value = mutate(value, chances)
    return value
  }
  const value = is(0.1) ? Array.from({ length: Math.floor(chances.between(0, 5)) }, frame) : frame()
  const text = JSON.stringify(value) ?? ''
  const bots = is(0.9) ? own.ids['bots']! : foreign.ids['bots']!
  return request(own, foreign, {
    botId: is(0.97)
      ? bots[0]!
      : encodeURIComponent(chances.pick(oddTexts).toWellFormed().slice(0, 1000).toWellFormed()),
    body: is(0.05) ? text.slice(0, Math.floor(chances.between(0, text.length))) : text,
    method: is(0.97) ? 'POST' : chances.pick(['GET', 'HEAD', 'DELETE', 'PUT']),
    headers: {
      ...(is(0.15) && { accept: chances.pick(accepts) }),
      ...(is(0.1) && { 'content-type': chances.pick(contentTypes) }),
      ...(is(0.3) && { 'mcp-protocol-version': chances.pick(versions) }),
      ...(is(0.05) && { origin: chances.pick(['null', 'http://evil.example', '']) }),
    },
  })
}

const framed = { accept: accepted, 'content-type': 'application/json' }

function request(
  own: Tenant,
  foreign: Tenant,
  {
    botId,
    body,
    method = 'POST',
    headers = {},
  }: { botId: string; body: string; method?: string; headers?: Credentials },
): FuzzRequest {
  const { authorization } = own.credentials.bot
  return {
    operation: mcpOperation,
    method,
    path: `/mcp/${botId}`,
    headers: { ...framed, ...(authorization !== undefined && { authorization }), ...headers },
    ...(method !== 'GET' && method !== 'HEAD' && { body }),
    forbidden: [foreign.marker, foreign.privateMarker],
  }
}

/** The fault of an answer of the server, which speaks JSON-RPC beside the platform's errors; undefined when there is none. */
export function faultOfMcp(
  request: FuzzRequest,
  { status, text }: { status: number; text: string },
): string | undefined {
  if (request.method === 'HEAD' || status === 202) return undefined
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return `an answer that is no JSON (${status})`
  }
  const { jsonrpc, result, error, id, type, message } = (answer ?? {}) as Record<string, unknown>
  if (jsonrpc === '2.0') {
    if (result === undefined && error === undefined) return 'neither a result nor an error'
    return result !== undefined && id !== idOf(request)
      ? `a result of another message: ${JSON.stringify(id)}`
      : undefined
  }
  return status >= 400 && id !== undefined && type !== undefined && message !== undefined
    ? undefined
    : `neither JSON-RPC nor an error of the platform (${status})`
}

function idOf({ body = '' }: FuzzRequest): unknown {
  const message = JSON.parse(body) as { id?: unknown } | null
  return message?.id
}
