import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { openPlatform, type Answer, type Platform } from '../../../support/platform.ts'
import { processorMilliseconds } from '../../../support/processor-time.ts'

let platform: Platform
let botId: string
beforeAll(async () => {
  platform = await openPlatform()
  botId = (await platform.createBot()).id
})
afterAll(() => platform[Symbol.asyncDispose]())

type Schema = Record<string, unknown>

/** Upper bound of the processor time, in milliseconds: each of the hostile schemas alone once took more. */
const maxMilliseconds = 1000

const list = <Item>(length: number, item: (index: number) => Item) => Array.from({ length }, (_, index) => item(index))

/** A schema of so many levels, two of which are one of its properties. */
function nest(levels: number): Schema {
  let schema: Schema = {}
  for (let level = 0; level < levels; level += 2) schema = { properties: { a: schema } }
  return schema
}

const hostile: [what: string, schema: Schema, type: string, place: RegExp][] = [
  ['nested 400 deep', nest(400), 'LimitExceeded', /#\/properties\/a\/.* more than 100 levels deep/],
  [
    'with 2,000 patterns',
    { patternProperties: Object.fromEntries(list(2000, (index) => [`^${index}(a+)+$`, { type: 'string' }])) },
    'LimitExceeded',
    /: # has more than 100 patterns/,
  ],
  [
    'with 25,000 alternatives',
    { anyOf: list(25_000, () => ({})) },
    'LimitExceeded',
    /#\/anyOf\/\d+ exceeds the 20000 objects and lists/,
  ],
  ['with 100,000 values', { enum: list(50_000, (index) => index) }, 'LimitExceeded', /longer than 100000 characters/],
  ['that refers to itself', { $ref: '#' }, 'InvalidJsonSchema', /: # refers to itself/],
  [
    'with references in a circle',
    { $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/b' }, b: { $ref: '#/definitions/a' } } },
    'InvalidJsonSchema',
    /refers to itself/,
  ],
  [
    'that refers to what is not there',
    { $ref: '#/definitions/a' },
    'InvalidJsonSchema',
    /#\/\$ref refers to '#\/definitions\/a'/,
  ],
  [
    'with a pattern that is endlessly long when it is written out',
    { properties: { a: { pattern: '(?:a{1000}){1000}' } } },
    'InvalidJsonSchema',
    /#\/properties\/a\/pattern .* 50000 steps/,
  ],
]

/** Where a definition may have schemas: of bots, and of integrations. */
const places = {
  createBot: [
    ['configuration.schema', (schema: Schema) => ({ configuration: { schema } })],
    ['states.s.schema', (schema: Schema) => ({ states: { s: { type: 'bot', schema } } })],
    ['events.e.schema', (schema: Schema) => ({ events: { e: { schema } } })],
    ['actions.a.input.schema', (schema: Schema) => ({ actions: { a: { input: { schema }, output: { schema: {} } } } })],
    [
      'actions.a.output.schema',
      (schema: Schema) => ({ actions: { a: { input: { schema: {} }, output: { schema } } } }),
    ],
  ],
  createIntegration: [
    ['configuration.schema', (schema: Schema) => ({ configuration: { schema } })],
    ['configurations.c.schema', (schema: Schema) => ({ configurations: { c: { schema } } })],
    ['states.s.schema', (schema: Schema) => ({ states: { s: { type: 'user', schema } } })],
    ['events.e.schema', (schema: Schema) => ({ events: { e: { schema } } })],
    ['actions.a.input.schema', (schema: Schema) => ({ actions: { a: { input: { schema }, output: { schema: {} } } } })],
    ['entities.e.schema', (schema: Schema) => ({ entities: { e: { schema } } })],
    ['channels.c.messages.m.schema', (schema: Schema) => ({ channels: { c: { messages: { m: { schema } } } } })],
  ],
} as const

/** Asks something while others go on asking: all of them have to be answered. */
async function beside(request: () => Promise<Answer>): Promise<Answer> {
  const over = new AbortController()
  const others = (async () => {
    while (!over.signal.aborted) {
      expect(await platform.ask('GET', `/v1/admin/bots/${botId}`)).toMatchObject({ status: 200 })
    }
  })()
  let answer: Answer | undefined
  const took = await processorMilliseconds(async () => {
    answer = await request()
  })
  over.abort()
  await others
  expect(took).toBeLessThan(maxMilliseconds)
  return answer!
}

const integration = () => ({ name: newId('int').toLowerCase(), version: '1.0.0', code: 'export const actions = {}' })

describe.each(hostile)('a schema %s', (_what, schema, type, place) => {
  const refusal = (name: string) => {
    const message = expect.stringMatching(new RegExp(`^${RegExp.escape(name)}.*${place.source}`))
    return { body: { type, message, id: expect.any(String) } }
  }

  test.each(places.createBot)('is refused when a bot is created or changed, in %s', async (name, define) => {
    expect(await beside(() => platform.ask('POST', '/v1/admin/bots', define(schema)))).toMatchObject(refusal(name))
    const change = () => platform.ask('PUT', `/v1/admin/bots/${botId}`, define(schema))
    expect(await beside(change)).toMatchObject(refusal(name))
  })

  test.each(places.createIntegration)('is refused when an integration is, in %s', async (name, define) => {
    const body = { ...integration(), ...define(schema) }
    for (const path of ['/v1/admin/integrations', '/v1/admin/integrations/validate']) {
      expect(await beside(() => platform.ask('POST', path, body))).toMatchObject(refusal(name))
    }
  })
})

test('many schemas in one upload are refused by what they come to', async () => {
  const schema = { anyOf: list(900, () => ({})) }
  const states = Object.fromEntries(list(100, (index) => [`s${index}`, { type: 'bot', schema }]))
  const answer = await beside(() => platform.ask('POST', '/v1/admin/bots', { states }))
  expect(answer).toMatchObject({
    status: 413,
    body: { type: 'LimitExceeded', message: expect.stringMatching(/20000/) },
  })
})

describe('data that takes its schema for ever', () => {
  const definition = {
    pattern: { properties: { a: { pattern: '^(?:a|a)+$' } } },
    unique: { properties: { l: { uniqueItems: true } } },
    // In a list: PostgreSQL keeps keywords in an order of its own.
    doubled: {
      anyOf: [0, 1].map((name) => ({ allOf: [{ properties: { a: { $ref: '#' } } }, { required: [`x${name}`] }] })),
    },
    looped: { properties: { a: { $ref: '#', default: {} } } },
  }
  let deep: Schema = {}
  for (let level = 0; level < 100; level++) deep = { a: deep }
  const data: Record<keyof typeof definition, Schema> = {
    pattern: { a: `${'a'.repeat(100_000)}!` },
    unique: { l: list(2000, () => list(20, (index) => index)) },
    doubled: deep,
    looped: {},
  }

  test.each(Object.keys(definition) as (keyof typeof definition)[])('is refused as a state: %s', async (name) => {
    const states = Object.fromEntries(Object.entries(definition).map(([of, schema]) => [of, { type: 'bot', schema }]))
    const created = await platform.ask('POST', '/v1/admin/bots', { states })
    const { id } = created.body.bot
    const headers = { 'x-bot-id': id }
    for (const [method, end] of [
      ['POST', ''],
      ['PATCH', ''],
      ['POST', '/get-or-set'],
    ] as const) {
      const path = `/v1/chat/states/bot/${id}/${name}${end}`
      const answer = await beside(() => platform.ask(method, path, { payload: data[name] }, headers))
      expect(answer).toMatchObject({ status: 400, body: { type: 'InvalidDataFormat' } })
    }
  })

  test('is refused as a configuration', async () => {
    const given = { ...integration(), configuration: { schema: definition.doubled } }
    const { body } = await platform.ask('POST', '/v1/admin/integrations', given)
    const settings = { integrationId: body.integration.id, configuration: data.doubled }
    const change = { integrations: { it: settings } }
    expect(await beside(() => platform.ask('PUT', `/v1/admin/bots/${botId}`, change))).toMatchObject({
      status: 400,
      body: {
        type: 'InvalidDataFormat',
        message: expect.stringMatching(/^integrations\.it\.configuration: .*aborted/),
      },
    })
  })

  test('and defaults count toward the length of a configuration', async () => {
    const schema = { properties: { a: { type: 'string', default: 'x'.repeat(30_000) } } }
    const { body } = await platform.ask('POST', '/v1/admin/integrations', {
      ...integration(),
      configuration: { schema },
    })
    const change = { integrations: { it: { integrationId: body.integration.id, configuration: {} } } }
    expect(await platform.ask('PUT', `/v1/admin/bots/${botId}`, change)).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload', message: expect.stringMatching(/longer than 20000/) },
    })
  })
})

describe('a schema that was stored before it was refused', () => {
  const stored: [what: string, schema: Schema][] = [
    ['with a pattern that refers back', { properties: { a: { pattern: '^(a)\\1$' }, n: { type: 'integer' } } }],
    [
      'with a reference that leads nowhere',
      { allOf: [{ $ref: 'https://elsewhere.example' }], properties: { n: { type: 'integer' } } },
    ],
    ['nested deep', { ...nest(400), required: [], allOf: [{ properties: { n: { type: 'integer' } } }] }],
    [
      'with thousands of patterns',
      {
        patternProperties: Object.fromEntries(list(2000, (index) => [`^${index}(a+)+$`, {}])),
        properties: { n: { type: 'integer' } },
      },
    ],
  ]

  test.each(stored)('%s still serves a running bot, in what can be run of it', async (_what, schema) => {
    const { id } = await platform.createBot()
    await platform.context
      .db('bots')
      .where({ id })
      .update({ definition: { states: { old: { type: 'bot', schema } } } })
    const put = (payload: object) =>
      platform.ask('POST', `/v1/chat/states/bot/${id}/old`, { payload }, { 'x-bot-id': id })
    expect(await put({ a: 'aa', n: 1 })).toMatchObject({ status: 200, body: { state: { payload: { a: 'aa', n: 1 } } } })
    expect(await put({ n: 'x' })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/n must be integer/) },
    })
    // Other fields can be changed; a change of this one has to correct it.
    expect(await platform.ask('PUT', `/v1/admin/bots/${id}`, { name: 'renamed' })).toMatchObject({ status: 200 })
    const again = await platform.ask('PUT', `/v1/admin/bots/${id}`, { states: { old: { type: 'bot', schema } } })
    expect(again.status).toBeGreaterThanOrEqual(400)
    expect(again.status).toBeLessThan(500)
  })

  test('that is no schema at all is named when it is needed', async () => {
    const { id } = await platform.createBot()
    const definition = { states: { old: { type: 'bot', schema: { properties: 5 } } } }
    await platform.context.db('bots').where({ id }).update({ definition })
    const path = `/v1/chat/states/bot/${id}/old`
    expect(await platform.ask('POST', path, { payload: {} }, { 'x-bot-id': id })).toMatchObject({
      status: 400,
      body: {
        type: 'InvalidJsonSchema',
        message: expect.stringMatching(/state 'old': #\/properties must be an object/),
      },
    })
  })
})
