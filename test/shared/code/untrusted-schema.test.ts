import { z, transforms } from '@bpinternal/zui'
import { describe, expect, test } from 'vitest'
import { acceptSchemas } from '#shared/code/accept-schema.ts'
import { UntrustedSchema } from '#shared/code/untrusted-schema.ts'
import { botDefinitionSchema } from '#shared/models/bot-definition.ts'
import { processorMilliseconds } from '../../support/processor-time.ts'

type Schema = Record<string, unknown>

const accept = (schema: Schema) => acceptSchemas(botDefinitionSchema, { configuration: { schema } })
const validate = (schema: Schema, data: object) => new UntrustedSchema(schema, 'the schema').validate(data)

/** The most that a validation, or the acceptance of one schema, may take: some times what it does take. */
const maxMilliseconds = 500

describe('a developer’s schema', () => {
  test('fills in its defaults and leaves the given data as it is', () => {
    const schema = {
      properties: {
        currency: { type: 'string', default: 'EUR' },
        shop: { properties: { ports: { items: [{ default: 80 }, { default: 443 }] } } },
      },
      required: ['currency'],
    }
    const given = { token: 'x', shop: { ports: [8080] } }
    expect(validate(schema, given)).toEqual({
      completed: { token: 'x', currency: 'EUR', shop: { ports: [8080, 443] } },
    })
    expect(given).toEqual({ token: 'x', shop: { ports: [8080] } })
  })

  test('fills nothing in where an alternative is only tried, and nothing into the prototype', () => {
    const alternatives = { anyOf: [{ properties: { a: { default: 1 } }, required: ['b'] }, {}] }
    expect(validate(alternatives, {})).toEqual({ completed: {} })
    const schema = JSON.parse('{"properties":{"__proto__":{"default":{"isAdministrator":true}}}}') as Schema
    const validated = validate(schema, {})
    expect(JSON.stringify(validated)).toBe('{"completed":{"__proto__":{"isAdministrator":true}}}')
    expect('completed' in validated && Object.getPrototypeOf(validated.completed)).toBe(Object.prototype)
  })

  test.each([
    ['of the draft that old tools name', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['of the draft that new tools name', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['with keywords of a tool', { properties: { a: { type: 'string', 'x-zui': { secret: true } } } }],
    ['with a format that is not known', { properties: { a: { type: 'string', format: 'colour' } } }],
    ['that is asynchronous', { $async: true }],
    ['with an id that another one has', { $id: 'the same' }],
    ['with a pattern that is none with the flag u', { properties: { a: { pattern: '^[\\w-.]+$' } } }],
    ['that allows null as OpenAPI does', { properties: { b: { type: 'string', nullable: true } } }],
  ])('%s is accepted', (_what, schema) => {
    accept(schema)
    expect(validate(schema, { a: 'x', b: null })).toEqual({ completed: { a: 'x', b: null } })
  })

  test.each([
    [{ type: 'nonsense' }, '#/type must be one of array, boolean, integer, null, number, object, string, or a list'],
    [{ properties: { a: { required: 'b' } } }, '#/properties/a/required must be a list of strings'],
    [{ properties: 5 }, '#/properties must be an object of schemas'],
    [{ $ref: 'https://elsewhere.example' }, "#/$ref refers to 'https://elsewhere.example', which is not in the schema"],
    [{ $ref: '#/x', x: 5 }, '#/x must be a schema'],
    [{ properties: { a: { pattern: '(' } } }, '#/properties/a/pattern is not a valid regular expression'],
    [{ properties: { a: { pattern: '(a)\\1' } } }, '#/properties/a/pattern refers back to a group'],
    [
      { patternProperties: { 'a{99999}': {} } },
      '#/patternProperties/a{99999} makes the patterns longer than 50000 steps',
    ],
    [{ allOf: [{ $ref: '#' }] }, 'refers to itself without a step into the data'],
  ])('%j is refused by name', (schema, message) => {
    expect(() => accept(schema)).toThrow(
      expect.objectContaining({ type: 'InvalidJsonSchema', message: expect.stringContaining(message) }),
    )
    expect(() => accept(schema)).toThrow(/^configuration\.schema: #/)
  })

  test.each([
    ['is too long', { title: 'x'.repeat(100_000) }, /^configuration\.schema is longer than 100000 characters/],
    ['is nested too deep', nest(100), /#\/not\/not\/.*\/… is nested more than 100 levels deep/],
    ['is nested endlessly', nest(100_000), /is nested more than 100 levels deep/],
    [
      'has too many alternatives',
      { anyOf: list(19_999, () => ({})) },
      /#\/anyOf\/0 exceeds the 20000 objects and lists/,
    ],
    [
      'has too many patterns',
      { patternProperties: Object.fromEntries(list(2000, (index) => [`^${index}(a+)+$`, {}])) },
      /# has more than 100 patterns/,
    ],
    [
      'has too many patterns in too many places',
      { properties: Object.fromEntries(list(101, (index) => [`p${index}`, { pattern: 'a' }])) },
      /#\/properties\/p0 has more than 100 patterns up to here/,
    ],
  ])('that %s is refused with the limit', (_what, schema, message) => {
    expect(() => accept(schema)).toThrow(
      expect.objectContaining({ type: 'LimitExceeded', message: expect.stringMatching(message) }),
    )
  })

  test('counts with all others of the same upload', () => {
    const states = Object.fromEntries(
      list(3, (index) => [`s${index}`, { type: 'bot', schema: { anyOf: list(9000, () => ({})) } }]),
    )
    expect(() => acceptSchemas(botDefinitionSchema, { states })).toThrow(
      /^states\.s2\.schema: .* exceeds the 20000 objects/,
    )
  })

  test.each([
    [{ properties: { shop: { properties: { port: { type: 'integer' } } } } }, 'shop.port must be integer'],
    [{ required: ['token'] }, "must have required property 'token'"],
    [{ additionalProperties: false }, "must not have a field 'shop'"],
    [{ properties: { shop: { enum: ['a', 'b'] } } }, 'shop must be one of a, b'],
    [
      { properties: { shop: { anyOf: [{ type: 'string' }, { required: ['name'] }] } } },
      "shop must be string, or shop must have required property 'name'",
    ],
    [{ properties: { shop: { properties: { port: { maxLength: 2 } } } } }, 'shop.port must have at most 2 characters'],
  ])('%j says what is wrong with data, and where', (schema, problem) => {
    expect(validate(schema, { shop: { port: 'abc' } })).toEqual({ problem })
  })
})

describe('hostile schemas and data end soon and say why:', () => {
  const rest = 'simplify the schema or the data'
  const tooMany = { problem: `validation was aborted because it takes more than 500000 steps: ${rest}` }
  const tooDeep = { problem: `validation was aborted because it goes more than 500 levels deep: ${rest}` }
  const again = { $ref: '#' }
  const numbers = list(60_000, (index) => index)

  test.each([
    [
      'patterns that take for ever',
      { properties: { a: { pattern: '^(a+)+$' } } },
      { a: `${'a'.repeat(20_000)}!` },
      { problem: 'a must match pattern "^(a+)+$"' },
    ],
    [
      'thousands of patterns, stored before they were counted',
      { patternProperties: Object.fromEntries(list(2000, (index) => [`(a+)+${index}$`, {}])) },
      Object.fromEntries(list(1000, (index) => [`${'a'.repeat(50)}${index}!`, 1])),
      tooMany,
    ],
    [
      'alternatives that double at each level',
      { anyOf: [0, 1].map((name) => ({ properties: { a: again }, required: [`x${name}`] })) },
      nestData(100),
      tooMany,
    ],
    ['data deeper than the validation', { properties: { a: again } }, nestData(600), tooDeep],
    ['defaults within defaults', { properties: { a: { ...again, default: {} } } }, {}, tooDeep],
    [
      'defaults that multiply',
      { properties: { l: { items: { properties: { a: { default: 'x'.repeat(50_000) } } } } } },
      { l: list(40_000, () => ({})) },
      tooMany,
    ],
    ['references in a loop, stored before they were refused', { allOf: [again] }, {}, tooDeep],
    [
      'long lists without equal items',
      { properties: { l: { uniqueItems: true } } },
      { l: numbers },
      { completed: expect.anything() },
    ],
    [
      'long lists of long lists without equal items',
      { properties: { l: { uniqueItems: true } } },
      { l: list(1000, () => numbers) },
      tooMany,
    ],
    [
      'long lists of values from long lists',
      { properties: { l: { items: { enum: list(10_000, (index) => `v${index}`) } } } },
      { l: list(10_000, () => 'v9999') },
      tooMany,
    ],
    [
      'long lists of many alternatives',
      { properties: { l: { items: { anyOf: list(4000, () => ({ type: 'string' })) } } } },
      { l: numbers },
      { problem: 'l.0 must be string' },
    ],
    ['tiny divisors', { properties: { a: { multipleOf: 1e-300 } } }, { a: 1e300 }, { problem: expect.anything() }],
    [
      'long texts in a format',
      { properties: { a: { format: 'url' } } },
      { a: `http://${':'.repeat(99_999)}!` },
      tooMany,
    ],
    [
      'long texts in a usual format',
      { properties: { a: { format: 'email' } } },
      { a: 'a@a.'.repeat(30_000) },
      { problem: 'a must match format "email"' },
    ],
    ['names of properties', { propertyNames: { pattern: '^(a+)+$' } }, { [`${'a'.repeat(60_000)}!`]: 1 }, tooMany],
  ])('%s', async (_what, schema, data, expected) => {
    const untrusted = new UntrustedSchema(schema, 'the schema')
    let validated: unknown
    const took = await processorMilliseconds(() => {
      validated = untrusted.validate(data)
    })
    expect(took).toBeLessThan(maxMilliseconds)
    expect(validated).toEqual(expected)
  })
})

describe('schemas as the public SDK makes them', () => {
  const address = z.object({
    street: z.string().min(1),
    zip: z.string().regex(/^\d{5}$/),
    country: z.enum(['DE', 'FR']),
  })
  const shapes: [what: string, schema: z.ZodTypeAny, valid: unknown[], invalid: unknown[]][] = [
    [
      'formats',
      z.object({ email: z.string().email(), url: z.string().url(), at: z.string().datetime(), id: z.string().uuid() }),
      [
        {
          email: 'a@b.co',
          url: 'https://b.co/x',
          at: '2026-11-22T10:00:00Z',
          id: '123e4567-e89b-12d3-a456-426614174000',
        },
      ],
      [{ email: 'a@', url: 'https://b.co/x', at: '2026-11-22T10:00:00Z', id: '123e4567-e89b-12d3-a456-426614174000' }],
    ],
    [
      'checks of texts',
      z.object({
        a: z.string().startsWith('x.').max(5),
        b: z.string().endsWith('.pdf').optional(),
        c: z.string().cuid().optional(),
      }),
      [{ a: 'x.y' }, { a: 'x.y', b: 'a.pdf', c: 'cjld2cjxh0000qzrmn831i7rn' }],
      [{ a: 'y' }, { a: 'x.yyyyy' }, { a: 'x.y', b: 'a.txt' }, { a: 'x.y', c: '-' }],
    ],
    [
      'numbers',
      z.object({ n: z.number().int().min(1).lt(10).multipleOf(2) }),
      [{ n: 2 }],
      [{ n: 3 }, { n: 10 }, { n: 2.5 }],
    ],
    [
      'unions',
      z.object({ v: z.union([z.string(), z.number(), z.null()]) }),
      [{ v: 'x' }, { v: null }],
      [{ v: true }, {}],
    ],
    [
      'discriminated unions',
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('text'), text: z.string() }),
        z.object({ type: z.literal('image'), imageUrl: z.string().url() }),
      ]),
      [{ type: 'text', text: 'x' }],
      [{ type: 'image', text: 'x' }, { type: 'video' }],
    ],
    ['records', z.object({ r: z.record(z.string(), z.number()) }), [{ r: { a: 1 } }], [{ r: { a: 'x' } }]],
    ['tuples', z.object({ t: z.tuple([z.string(), z.number()]) }), [{ t: ['x', 1] }], [{ t: ['x', 'y'] }]],
    [
      'intersections',
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
      [{ a: 'x', b: 1 }],
      [{ a: 'x' }],
    ],
    [
      'sets and lists',
      z.object({ l: z.array(address).min(1).max(2) }),
      [{ l: [{ street: 's', zip: '12345', country: 'DE' }] }],
      [{ l: [] }, { l: [{ street: '', zip: '12345', country: 'DE' }] }],
    ],
    [
      'defaults, null and optional',
      z.object({ a: z.string().default('x'), b: z.number().nullable(), c: z.boolean().optional() }),
      [{ b: null }],
      [{ b: 'x' }],
    ],
    [
      'passing through, strict and the rest',
      z.object({ p: z.object({}).passthrough(), s: z.object({ a: z.any() }).strict() }),
      [{ p: { x: 1 }, s: { a: 1 } }],
      [{ p: {}, s: { b: 1 } }],
    ],
    [
      'metadata',
      z.object({ a: z.string().title('A').describe('The A').secret() }).title('T'),
      [{ a: 'x' }],
      [{ a: 1 }],
    ],
  ]

  const makers = {
    toJSONSchema: transforms.toJSONSchema,
    toJSONSchemaLegacy: (schema: never) => transforms.toJSONSchemaLegacy(schema, { target: 'jsonSchema7' }),
    toJSONSchemaLegacyForTables: transforms.toJSONSchemaLegacy,
  }
  describe.each(Object.entries(makers))('with %s', (_name, make) => {
    test.each(shapes)('%s', (_what, zui, valid, invalid) => {
      const schema = JSON.parse(JSON.stringify(make(zui as never))) as Schema
      accept(schema)
      for (const data of valid) expect({ data, ...validate(schema, data as object) }).toHaveProperty('completed')
      for (const data of invalid) expect({ data, ...validate(schema, data as object) }).toHaveProperty('problem')
    })
  })

  test('references to itself', () => {
    const schema = {
      $ref: '#/definitions/Node',
      definitions: {
        Node: { type: 'object', properties: { value: { type: 'string' }, next: { $ref: '#/definitions/Node' } } },
      },
    }
    accept(schema)
    expect(validate(schema, { value: 'a', next: { value: 'b' } })).toHaveProperty('completed')
    expect(validate(schema, { value: 'a', next: { value: 1 } })).toEqual({ problem: 'next.value must be string' })
  })
})

function list<Item>(length: number, item: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => item(index))
}

/** A schema so many levels deep. */
function nest(levels: number): Schema {
  let schema: Schema = {}
  for (let level = 0; level < levels; level += 1) schema = { not: schema }
  return schema
}

function nestData(levels: number): object {
  let data = {}
  for (let level = 0; level < levels; level += 1) data = { a: data }
  return data
}
