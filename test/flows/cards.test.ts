import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MessageRow } from '#shared/models/tables.ts'
import { complete, ScriptedStream, startEndpoint, type ScriptedEndpoint } from '../support/models.ts'
import { endedEvents } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openConversation } from './conversation.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let models: ScriptedEndpoint
beforeAll(async () => {
  models = parts.use(await startEndpoint())
  const environment = { OUTBOUND_ALLOW_PRIVATE: '127.0.0.1', ...models.environment }
  platform = parts.use(await openPlatform({ environment }))
})
afterAll(() => parts.disposeAsync())

interface Given {
  /** The other nodes of flow `main`. */
  nodes?: object[]
  /** Further fields of flow `main`. */
  main?: object
  /** The other flows. */
  flows?: object[]
  code?: string
  /** Further fields of the bot. */
  bot?: object
}

/** A conversation with a bot whose flow `main` begins with a node of these cards. */
async function talk(cards: object[], { nodes = [], main = {}, flows = [], code = '', bot: fields = {} }: Given = {}) {
  const first = { id: 'main', start: 'first', nodes: [{ id: 'first', cards }, ...nodes], ...main }
  const bot = await platform.createBot(code, { ...fields, flows: [first, ...flows] })
  return { bot, ...(await openConversation(platform, bot)) }
}

const say = (id: string, message: unknown) => ({ id, type: 'say', message })

test('a flow asks, waits for the answer, and continues with it', async () => {
  const user = await talk([
    { id: 'ask', type: 'capture', message: 'Your name?', variable: 'user.name' },
    say('greet', 'Hello {{user.name}}{{ workflow.none }}, {{ 1 + 1 }}'),
  ])
  expect(await user.say('hi')).toEqual(['Your name?'])
  expect(await user.say('Ada')).toEqual(['Hello Ada, 2'])
  expect(await user.say('hi')).toEqual(['Your name?'])
})

describe('a choice', () => {
  const options = [
    { label: 'Red wine', value: 'red', words: ['rouge'] },
    { label: 'White wine', value: 'white' },
  ]
  const choice = {
    id: 'wine',
    type: 'choice',
    message: 'Which?',
    options,
    variable: 'workflow.wine',
    cancel: ['stop'],
    retries: 1,
    retryMessage: 'Please select one.',
    ports: { red: 'told', white: 'told', other: 'lost', cancel: 'stopped' },
  }
  const nodes = [
    { id: 'told', cards: [say('say', 'You take {{workflow.wine}}')] },
    { id: 'lost', cards: [say('say', 'No wine for you')] },
    { id: 'stopped', cards: [say('say', 'Never mind')] },
  ]

  test.each([
    ['red', 'You take red'],
    ['WHITE wine', 'You take white'],
    ['2', 'You take white'],
    ['rouge', 'You take red'],
    ['I want the réd wine, please', 'You take red'],
    ['STOP', 'Never mind'],
  ])('takes %s', async (answer, reply) => {
    const user = await talk([choice], { nodes })
    expect(await user.say('hi')).toEqual(['Which?'])
    expect(await user.say(answer)).toEqual([reply])
  })

  test('asks again, and leaves when no answer matches', async () => {
    const user = await talk([choice], { nodes })
    await user.say('hi')
    expect(await user.say('red wine or white wine')).toEqual(['Please select one.', 'Which?'])
    expect(await user.say('beer')).toEqual(['No wine for you'])
  })

  test('sends its options as buttons, and takes those of an expression', async () => {
    const made = { ...choice, options: { $: "['a', 'b'].map((value) => ({ label: value.toUpperCase(), value }))" } }
    const user = await talk([{ ...made, ports: { b: 'told' } }], { nodes })
    await user.say('hi')
    const rows = await platform.context.db('messages').where({ direction: 'outgoing', conversation_id: user.id })
    const [{ type, payload }] = rows as [MessageRow]
    expect({ type, options: payload['options'] }).toEqual({
      type: 'choice',
      options: [
        { label: 'A', value: 'a' },
        { label: 'B', value: 'b' },
      ],
    })
    expect(await user.say('B')).toEqual(['You take b'])
  })
})

test('an expression finds its names however it spells them', async () => {
  const user = await talk([
    {
      id: 'set',
      type: 'set',
      values: { 'temp.a': { $: '\\u0075ser.name ?? "nobody"' }, 'temp.b': { $: 'eval("te" + "mp").a' } },
    },
    say('s', '{{temp.a}} {{temp.b}} {{typeof value}}'),
  ])
  expect(await user.say('hi')).toEqual(['nobody nobody undefined'])
})

test('the options of a choice have the labels and values that were shown, and a text has nothing for an invalid date', async () => {
  const choice = {
    id: 'c',
    type: 'choice',
    message: 'Which?',
    variable: 'temp.choice',
    options: [
      { label: 'As {{user.name}}', value: 'as-{{user.name}}' },
      { label: 'Not', value: 'not' },
    ],
    cancel: [],
  }
  const set = { id: 'set', type: 'set', values: { 'user.name': 'Ada' } }
  const user = await talk([set, choice, say('s', 'got {{temp.choice}}{{ new Date(NaN) }}')])
  await user.say('hi')
  expect(await user.say('as ada')).toEqual(['got as-Ada'])
})

describe('a capture', () => {
  test.each([
    ['number', 'x', '12,5', 12.5],
    ['number', '1,000', '0,125', 0.125],
    ['integer', '1.5', '-3', -3],
    ['boolean', 'perhaps', 'Yes', true],
    ['boolean', 'no idea', 'No!', false],
    ['email', 'ada@', 'ada@example.com', 'ada@example.com'],
    ['phone', 'call me', '+41 44 123 45 67', '+41 44 123 45 67'],
    ['url', 'example', 'https://example.com/a', 'https://example.com/a'],
    ['date', 'tomorrow', '2026-11-23', '2026-11-23'],
    ['date', '2026-02-29', '2028-02-29', '2028-02-29'],
    ['date', '2026-04-31T10:00:00Z', '2026-04-30T24:00:00Z', '2026-04-30T24:00:00Z'],
    ['phone', '(...) ---', '11 22 3', '11 22 3'],
  ])('of kind %s refuses %s and accepts %s', async (kind, wrong, right, value) => {
    const user = await talk([
      { id: 'ask', type: 'capture', kind, message: '?', variable: 'workflow.value' },
      say('tell', '{{ JSON.stringify(workflow.value) }}'),
    ])
    await user.say('hi')
    expect(await user.say(wrong)).toEqual(['?'])
    expect(await user.say(right)).toEqual([JSON.stringify(value)])
  })

  test('validates by an expression, skips what is filled, and leaves by failed', async () => {
    const ask = {
      id: 'ask',
      type: 'capture',
      kind: 'number',
      message: 'Age?',
      variable: 'user.age',
      validate: { $: 'value >= 18' },
      retries: 0,
      skipWhenFilled: true,
      ports: { failed: 'young' },
    }
    const nodes = [{ id: 'young', cards: [say('no', 'Too young')] }]
    const user = await talk([ask, say('tell', 'You are {{user.age}}')], { nodes })
    await user.say('hi')
    expect(await user.say('17')).toEqual(['Too young'])
    await user.say('again')
    expect(await user.say('18')).toEqual(['You are 18'])
    expect(await user.say('again')).toEqual(['You are 18'])
  })
})

test('conditions and routers continue at their ports, and variables live as long as their scope', async () => {
  const user = await talk(
    [
      { id: 'count', type: 'set', values: { 'session.count': { $: '(session.count ?? 0) + 1' }, 'temp.seen': true } },
      { id: 'if', type: 'condition', if: { $: 'session.count > 1' }, ports: { true: 'more' } },
      say('first', 'first'),
    ],
    {
      nodes: [
        {
          id: 'more',
          cards: [
            {
              id: 'route',
              type: 'router',
              cases: [
                { port: 'two', if: { $: 'session.count === 2' } },
                { port: 'never', if: { $: 'false' } },
              ],
              ports: { two: 'second', else: 'many' },
            },
          ],
        },
        { id: 'second', cards: [say('say', 'second')] },
        {
          id: 'many',
          cards: [say('say', 'many {{temp.seen}}'), { id: 'forget', type: 'set', remove: ['session.count'] }],
        },
      ],
    },
  )
  expect(await user.say('a')).toEqual(['first'])
  expect(await user.say('a')).toEqual(['second'])
  expect(await user.say('a')).toEqual(['many true'])
  expect(await user.say('a')).toEqual(['first'])
})

test('a flow calls another with input, and gets its output; a jump does not return', async () => {
  const order = {
    id: 'order',
    start: 'ask',
    variables: { what: { default: 'nothing' }, count: {} },
    nodes: [
      {
        id: 'ask',
        cards: [
          {
            id: 'count',
            type: 'capture',
            kind: 'integer',
            message: 'How many {{workflow.what}}?',
            variable: 'workflow.count',
          },
        ],
      },
    ],
  }
  const user = await talk(
    [
      { id: 'call', type: 'call', flow: 'order', input: { what: 'pizzas' }, output: { count: 'workflow.ordered' } },
      say('tell', 'Ordered {{workflow.ordered}}, not {{workflow.count}}'),
      { id: 'go', type: 'jump', to: 'bye/' },
      say('never', 'never'),
    ],
    { flows: [order, { id: 'bye', start: 'bye', nodes: [{ id: 'bye', cards: [say('bye', 'Bye')] }] }] },
  )
  expect(await user.say('hi')).toEqual(['How many pizzas?'])
  expect(await user.say('3')).toEqual(['Ordered 3, not ', 'Bye'])
})

test('code reads and changes variables, calls the platform, and selects a port', async () => {
  const user = await talk(
    [
      {
        id: 'code',
        type: 'code',
        code: `
          interface Note { text: string }
          const note: Note = { text: event.preview }
          workflow.said = note.text
          state.user.last = note.text
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'from code' } })
          return 'done'`,
        ports: { done: 'tell' },
      },
    ],
    {
      nodes: [
        {
          id: 'tell',
          cards: [say('tell', '{{workflow.said}} {{user.last}} {{typeof event.state.context.currentNode}}')],
        },
      ],
    },
  )
  expect(await user.say('hello')).toEqual(['from code', 'hello hello string'])
})

test('actions of the bot are cards, and a failure leaves by the port error', async () => {
  const code = `
    export const actions = {
      double: async ({ input }) => ({ value: input.of * 2 }),
      fail: async () => { throw new Error('out of stock') },
    }`
  const user = await talk(
    [
      { id: 'double', type: 'action', action: 'double', input: { of: { $: '21' } }, output: 'workflow.result' },
      say('tell', '{{workflow.result.value}}'),
      { id: 'fail', type: 'action', action: 'fail', ports: { error: 'sorry' } },
    ],
    { code, nodes: [{ id: 'sorry', cards: [say('sorry', 'Sorry: {{temp.error.card}} {{temp.error.message}}')] }] },
  )
  expect(await user.say('hi')).toEqual(['42', "Sorry: main/first/fail The action 'fail' failed: out of stock"])
})

test('an error that a flow keeps and may say has no secrets, cut ones included', async () => {
  const secret = 'a-secret-of-many-letters'
  const run = "throw new Error(env.SECRET_KEY + ' ' + 'x'.repeat(965) + env.SECRET_KEY)"
  const user = await talk([{ id: 'fail', type: 'code', code: run, ports: { error: 'sorry' } }], {
    bot: { secrets: { KEY: secret } },
    nodes: [{ id: 'sorry', cards: [say('sorry', '{{temp.error.message}}')] }],
  })
  const [said] = await user.say('hi')
  expect(said).toContain('*** xxx')
  expect(said).not.toContain(secret.slice(0, 5))
})

test('http sends the content type of the card, however its name is spelled', async () => {
  const received: unknown[] = []
  const server = createServer((request, response) => {
    received.push(request.headers['content-type'])
    request.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const card = (id: string, headers: object) => ({
    id,
    type: 'http',
    method: 'POST',
    url: `http://127.0.0.1:${port}/`,
    headers,
    body: { a: 1 },
  })
  const type = 'application/vnd.api+json'
  try {
    const user = await talk(
      [
        card('capital', { 'Content-Type': type }),
        card('small', { 'content-type': type }),
        card('none', {}),
        say('s', 'sent'),
      ],
      { bot: { permissions: { net: [`127.0.0.1:${port}`] } } },
    )
    expect(await user.say('hi')).toEqual(['sent'])
    expect(received).toEqual([type, type, 'application/json'])
  } finally {
    server.close()
  }
})

test('http requests a host that the bot may reach', async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ path: request.url, method: request.method }))
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/{{workflow.path}}`
  const cards = [
    { id: 'set', type: 'set', values: { 'workflow.path': 'x' } },
    {
      id: 'get',
      type: 'http',
      method: 'POST',
      url,
      body: { a: 1 },
      output: 'workflow.answer',
      ports: { error: 'refused' },
    },
    say('tell', '{{workflow.answer.status}} {{workflow.answer.body.method}} {{workflow.answer.body.path}}'),
  ]
  const nodes = [{ id: 'refused', cards: [say('no', 'refused')] }]
  try {
    const refused = await talk(cards, { nodes })
    expect(await refused.say('hi')).toEqual(['refused'])
    const allowed = await talk(cards, { nodes, bot: { permissions: { net: [`127.0.0.1:${port}`] } } })
    expect(await allowed.say('hi')).toEqual(['200 POST /x'])
  } finally {
    server.close()
  }
})

const answerInWords = (...words: string[]) => {
  models.requests.length = 0
  models.script = (response) => {
    const stream = new ScriptedStream(response)
    for (const word of words) stream.write(word)
    stream.end()
  }
}
const answerAtOnce = (content: string) => {
  models.requests.length = 0
  models.script = (response) => complete(response, { content })
}
const asked = () => models.requests.at(-1)!.body.messages

describe('a card that asks a language model', () => {
  test('sends the answer as a stream, from what a search has found and after the messages before', async () => {
    answerInWords('We open ', 'at seven.')
    const user = await talk([
      { id: 'kb', type: 'code', code: "event.kb = { included: [], results: [{ content: 'Open from 7 to 5.' }] }" },
      {
        id: 'answer',
        type: 'ai',
        instructions: 'Be brief, {{ 1 + 1 }}.',
        knowledge: true,
        history: 2,
        output: 'temp.a',
        say: true,
      },
      say('after', '[{{temp.a}}]'),
    ])
    expect(await user.say('hi')).toEqual(['We open at seven.', '[We open at seven.]'])
    expect(asked()).toEqual([
      {
        role: 'system',
        content: expect.stringMatching(/^Be brief, 2\.\n\nAnswer only .*\n\n---\nOpen from 7 to 5\.$/s),
      },
      { role: 'user', content: 'hi' },
    ])
    expect(models.requests[0]!.body.stream).toBe(true)
    await user.say('and on Sundays?')
    expect(asked().slice(1)).toEqual([
      { role: 'assistant', content: 'We open at seven.' },
      { role: 'assistant', content: '[We open at seven.]' },
      { role: 'user', content: 'and on Sundays?' },
    ])
  })

  test('stores a value by a schema, and is asked once when the event runs again', async () => {
    answerAtOnce('{"product":"lamp","quantity":2}')
    const schema = { type: 'object', properties: { product: { type: 'string' }, quantity: { type: 'integer' } } }
    const user = await talk(
      [
        { id: 'extract', type: 'ai', question: 'From: {{event.preview}}', schema, output: 'workflow.order' },
        {
          id: 'fail',
          type: 'code',
          code: "globalThis.runs = (globalThis.runs ?? 0) + 1; if (runs === 1) throw new Error('once more')",
        },
        say('order', '{{workflow.order.quantity}} × {{workflow.order.product}}'),
      ],
      { code: 'export const retry = { attempts: 2, backoff: 1 }' },
    )
    expect(await user.say('two lamps')).toEqual(['2 × lamp'])
    expect(models.requests).toHaveLength(1)
    expect(asked().at(-1)).toEqual({ role: 'user', content: 'From: two lamps' })
  })

  test.each([
    ['{"case":"order"}', 'order'],
    ['Order', 'order'],
    ['It is about a refund, I think.', 'refund'],
    ['order or refund', 'else'],
    ['{"case":"steal"}', 'else'],
  ])('continues by %s at the port %s', async (answer, port) => {
    answerAtOnce(answer)
    const cases = [
      { port: 'order', description: 'orders of {{ "goods" }}' },
      { port: 'refund', description: 'money back' },
    ]
    const nodes = ['order', 'refund', 'else'].map((id) => ({ id, cards: [say('say', id)] }))
    const ports = { order: 'order', refund: 'refund', else: 'else' }
    const user = await talk([{ id: 'route', type: 'aiRouter', cases, ports }], { nodes })
    expect(await user.say('where is it?')).toEqual([port])
    expect(asked()[0].content).toContain('- order: orders of goods\n- refund: money back')
  })

  test('leaves by its port error when the budget is used up, and without one fails the event by its name', async () => {
    answerAtOnce('never')
    const nodes = [{ id: 'sorry', cards: [say('sorry', '{{temp.error.card}}: {{temp.error.message}}')] }]
    const user = await talk([{ id: 'ask', type: 'ai', ports: { error: 'sorry' } }], { nodes })
    await platform.ask('PUT', '/v1/admin/models/budget', { botId: user.bot.id, budget: { dayTokens: 0 } })
    expect(await user.say('hi')).toEqual([expect.stringMatching(/^main\/first\/ask: The bot has used up its budget/)])
    expect(models.requests).toHaveLength(0)

    const other = await talk([{ id: 'ask', type: 'ai', model: 'nobody:nothing' }])
    expect(await other.say('hi')).toEqual([])
    const { body } = await platform.ask('GET', `/v1/admin/bots/${other.bot.id}/events`)
    expect(body.events[0]).toMatchObject({
      status: 'failed',
      hook: 'main/first/ask',
      failureReason: expect.stringContaining('No provider has the model'),
    })
  })
})

test('emit creates an event, whose trigger begins a flow', async () => {
  const flows = [
    {
      id: 'shipped',
      start: 'tell',
      triggers: [
        { id: 'large', event: 'order_shipped', filter: { $: 'event.payload.count > 100' } },
        { id: 'small', event: 'order_shipped', filter: { $: 'event.payload.count > 1' } },
      ],
      nodes: [
        {
          id: 'tell',
          cards: [say('tell', 'Shipped {{event.payload.count}} {{event.trigger.flowId}} {{event.trigger.nodeId}}')],
        },
      ],
    },
  ]
  const user = await talk([{ id: 'emit', type: 'emit', event: 'order_shipped', payload: { count: { $: '3' } } }], {
    flows,
  })
  const replies = await user.say('hi')
  await endedEvents(platform, user.bot.id, 2)
  expect([...replies, ...(await user.heard())]).toEqual(['Shipped 3 shipped tell'])
})

const emit = (delaySeconds: unknown) => ({
  id: 'emit',
  type: 'emit',
  event: 'later',
  delaySeconds,
  ports: { error: 'no' },
})

test('emit delays an event by seconds with decimals, and refuses a delay that is none', async () => {
  const nodes = [{ id: 'no', cards: [say('no', '{{temp.error.message}}')] }]
  const user = await talk([emit(2.01), say('done', 'done')], { nodes })
  expect(await user.say('hi')).toEqual(['done'])
  for (const wrong of ['"soon"', '-1', '31 * 24 * 3600']) {
    const refused = await talk([emit({ $: wrong }), say('done', 'done')], { nodes })
    expect(await refused.say('hi')).toEqual(['A card delays an event by 0 seconds to 30 days'])
  }
})

test('end runs the flow end, and clears the session', async () => {
  const end = { id: 'end', start: 'bye', nodes: [{ id: 'bye', cards: [say('bye', 'Bye {{session.name}}')] }] }
  const user = await talk(
    [
      say('show', '[{{session.name}}]'),
      { id: 'set', type: 'set', values: { 'session.name': 'Ada' } },
      { id: 'over', type: 'end' },
      say('never', 'never'),
    ],
    { flows: [end] },
  )
  expect(await user.say('hi')).toEqual(['[]', 'Bye Ada'])
  expect(await user.say('hi')).toEqual(['[]', 'Bye Ada'])
})

test('messages have types, variants and translations', async () => {
  const user = await talk([
    { id: 'image', type: 'say', message: { type: 'image', imageUrl: 'https://example.com/{{ "a" }}.png' } },
    { id: 'one', type: 'say', variants: ['same', 'same'] },
    { id: 'lang', type: 'set', values: { 'user.language': 'fr' } },
    { id: 'hello', type: 'say', message: 'hello', translations: { fr: 'bonjour' } },
  ])
  expect(await user.say('hi')).toEqual(['{"imageUrl":"https://example.com/a.png"}', 'same', 'bonjour'])
})
