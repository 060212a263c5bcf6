import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeApi, describeChat, type OpenApiDocument } from '#shared/openapi/document.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { openPlatform, send, type Answer, type DeployedBot, type Platform } from '../support/platform.ts'

let platform: Platform
let bot: DeployedBot
let chatUser: ChatUser
let conversationId: string
let integrationId: string
beforeAll(async () => {
  platform = await openPlatform()
  bot = await platform.createBot()
  chatUser = await createChatUser(bot.chatUrl)
  conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  const integration = { name: 'shop', version: '1.0.0', code: 'export const actions = {}' }
  integrationId = (await platform.ask('POST', '/v1/admin/integrations', integration)).body.integration.id
})
afterAll(() => platform[Symbol.asyncDispose]())

interface Schema {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: boolean | Schema
}

interface Described {
  operationId: string
  parameters?: { in: string; name: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema; example: Record<string, unknown> }> }
  responses: Record<string, { content?: object }>
}

const times = [
  '0000-01-01T00:00:00Z',
  '0000-12-31T23:59:60Z',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59-23:59',
  '9999-12-31T23:59:60Z',
  '2026-02-30T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '294277-01-01T00:00:00Z',
  'infinity',
  '-infinity',
  'epoch',
]
const numbers = [-1, 0.5, 2 ** 31, 2 ** 53, 2 ** 63, 1e21, 1e308, 5e-324, 'NaN', 'Infinity', '1e999', '0x10', '']
const texts = [
  'a\0b',
  '\ud800',
  '\udc00\ud800',
  'x'.repeat(10_000),
  '__proto__',
  '%00',
  "'",
  '\\u0000',
  '{"a":',
  '\uffff',
]
const tokens = ['0 x', '99999999999999 x', '8640000000000001 x', '1 \0', '1 a b', '-1 x', '', 'x'.repeat(5000)].map(
  (text) => Buffer.from(text).toString('base64url'),
)

/** Extreme values for a schema, of types that validation accepts as far as possible. */
function oddValues(schema: Schema, name: string): unknown[] {
  const types = [schema.type].flat()
  if (name === 'nextToken') return [...tokens, ...texts]
  if (schema.format === 'date-time') return times
  if (types.includes('integer') || types.includes('number')) return numbers
  if (types.includes('object')) return texts.flatMap((text) => [{ [text]: 'x' }, { x: text }, { x: { y: [text] } }])
  if (types.includes('array')) return [...texts, ...numbers, ...times].map((value) => [value])
  return [...texts, ...times.slice(0, 2)]
}

interface Attempt {
  operation: string
  field: string
  value: unknown
  send(): Promise<Answer>
}

/** Each value of each operation, once with something odd and all else as it should be. */
function* attempts(api: OpenApiDocument, ask: (given: RequestParts) => Promise<Answer>) {
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, one] of Object.entries(methods))
      yield* attemptsOf(method, path, one as unknown as Described, ask)
  }
}

interface RequestParts {
  method: string
  path: string
  body?: unknown
}

/** Ids that are there, for what is not changed for the worse by it. */
function idOf(name: string, path: string): string {
  if (name === 'webhookId') return bot.webhookId
  if (name === 'botId' || /\/admin\/bots\/\{id\}/.test(path)) return bot.id
  if (/\/admin\/integrations\/\{id\}/.test(path)) return integrationId
  if (name === 'conversationId' || /conversations\/\{id\}/.test(path)) return conversationId
  if (name === 'userId' || /users\/\{id\}/.test(path)) return chatUser.userId
  return name === 'type' ? 'bot' : 'none'
}

function* attemptsOf(
  method: string,
  path: string,
  { operationId, parameters = [], requestBody, responses }: Described,
  ask: (given: RequestParts) => Promise<Answer>,
): Generator<Attempt> {
  // A stream does not end by itself.
  if (JSON.stringify(responses).includes('text/event-stream')) return
  const isDestructive = method === 'delete'
  const fill = (odd?: { name: string; value: unknown }) =>
    path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
      const value = name === odd?.name ? odd.value : isDestructive ? 'none' : idOf(name, path)
      return encodeURIComponent(wellFormed(String(value))) || '%20'
    })
  const content = requestBody?.content['application/json']
  // To compile and inspect code takes a second each time, and to store what an integration declares needs none.
  if (content?.schema.required?.includes('code')) return
  const { code: _code, sourceMap: _sourceMap, integrations: _integrations, ...example } = content?.example ?? {}
  const body = content && method !== 'get' ? example : undefined
  const make = (field: string, value: unknown, given: Omit<RequestParts, 'method'>): Attempt => {
    return { operation: operationId, field, value, send: () => ask({ method: method.toUpperCase(), body, ...given }) }
  }
  for (const { in: where, name, schema } of parameters) {
    // Headers are described once for all.
    if (!schema || where === 'header' || (where === 'path' && name === 'webhookId')) continue
    for (const value of oddValues(schema, name)) {
      if (where === 'path') yield make(name, value, { path: fill({ name, value }) })
      else yield make(name, value, { path: `${fill()}?${toQuery(name, value)}` })
    }
  }
  for (const [name, schema] of Object.entries(content?.schema.properties ?? {})) {
    if (name === 'code' || name === 'sourceMap') continue
    for (const [field, value, odd] of oddFields(schema, name)) {
      yield make(field, value, { path: fill(), body: { ...body, [name]: odd } })
    }
  }
}

/** A field, or one within it, that is odd. */
function* oddFields(schema: Schema, name: string): Generator<[place: string, value: unknown, odd: unknown]> {
  for (const value of oddValues(schema, name)) yield [name, value, value]
  for (const [inner, schemaOfInner] of Object.entries(schema.properties ?? {})) {
    for (const value of oddValues(schemaOfInner, inner)) yield [`${name}.${inner}`, value, { [inner]: value }]
  }
}

function wellFormed(text: string): string {
  return text.toWellFormed()
}

function toQuery(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => toQuery(name, item)).join('&')
  if (typeof value !== 'object' || value === null) return `${name}=${encodeURIComponent(wellFormed(String(value)))}`
  return Object.entries(value)
    .map(([key, inner]) => toQuery(`${name}[${encodeURIComponent(wellFormed(key))}]`, inner))
    .join('&')
}

/** Sends a request. An answer in lines may have no end: its beginning suffices. */
async function askAsAdministrator({ method, path, body }: RequestParts): Promise<Answer> {
  const { token, url, workspaceId } = platform
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaceId,
      'x-bot-id': bot.id,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { status, headers } = response
  if (headers.get('content-type')?.startsWith('application/x-ndjson')) {
    await response.body!.cancel()
    return { status, headers, body: undefined }
  }
  const text = await response.text()
  return { status, headers, body: text === '' ? undefined : JSON.parse(text) }
}

async function failuresOf(all: Iterable<Attempt>): Promise<object[]> {
  const failures: object[] = []
  const waiting = Iterator.from(all)
  async function work(): Promise<void> {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      const { operation, field, value, send } = next.value
      const { status, body } = await send()
      if (status >= 500)
        failures.push({
          operation,
          field,
          value: JSON.stringify(value).slice(0, 80),
          status,
          message: body?.message,
        })
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return failures
}

describe('no value of any parameter or field is answered with a failure of ours,', () => {
  test.each(['/v1/chat', '/v1/admin'])('%s', { timeout: 300_000 }, async (prefix) => {
    const api = describeApi(platform.url)
    const paths = Object.fromEntries(Object.entries(api.paths).filter(([path]) => path.startsWith(prefix)))
    expect(await failuresOf(attempts({ ...api, paths }, askAsAdministrator))).toEqual([])
  })

  test('/chat', { timeout: 300_000 }, async () => {
    const ask = ({ method, path, body }: RequestParts) =>
      send(method, `${bot.chatUrl}${path}`, body, { 'x-user-key': chatUser.key })
    expect(await failuresOf(attempts(describeChat(bot.chatUrl), ask))).toEqual([])
  })
})

test('a time that cannot be stored is named, in a query and in a body', async () => {
  const headers = { 'x-bot-id': bot.id }
  const message = expect.stringMatching(/^(afterDate|schedule\.dateTime) must be a time of the years 1 to 9999/)
  const time = '0000-01-01T00:00:00Z'
  for (const path of ['conversations', 'users', 'messages'].map((name) => `/v1/chat/${name}?afterDate=${time}`)) {
    const answer = await platform.ask('GET', path, undefined, headers)
    expect({ path, ...answer }).toMatchObject({ status: 400, body: { type: 'InvalidPayload', message } })
  }
  const event = { type: 'later', payload: {}, schedule: { dateTime: time } }
  expect(await platform.ask('POST', '/v1/chat/events', event, headers)).toMatchObject({
    status: 400,
    body: { message },
  })
})
