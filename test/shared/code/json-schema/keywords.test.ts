import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { UntrustedSchema } from '#shared/code/untrusted-schema.ts'

type Schema = Record<string, unknown>

/** Data of every type, and such as lie on the bounds that the schemas below set. */
const values: unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  1.5,
  2,
  3,
  -1,
  10,
  0.3,
  1e15,
  '',
  'a',
  'ab',
  'abc',
  'foobar',
  '😀',
  '😀😀',
  '1',
  '2026-11-22',
  '2026-11-22T10:00:00Z',
  'ann@example.com',
  'https://example.com/a?b=c',
  '01890f3e-7c1a-7000-8000-000000000000',
  '127.0.0.1',
  [],
  [1],
  [1, 1],
  [1, true],
  [0, false],
  [1, 'a'],
  ['a', 1],
  [1, 2, 3],
  [[1], [1]],
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  [{ a: 1 }, { a: 2 }],
  [null, null],
  {},
  { a: 1 },
  { a: 'x' },
  { a: null },
  { b: 2 },
  { a: 1, b: 2 },
  { a: 1, b: 2, c: 3 },
  { foo: 1, food: 2 },
  { foo: 'x', bar: 'y' },
  { constructor: 1 },
  { isPrototypeOf: 'x', hasOwnProperty: 2 },
  JSON.parse('{"__proto__": 1}'),
  { kind: 'circle', radius: 2 },
  { kind: 'square', side: 2 },
  { kind: 'square', radius: 2 },
  { next: { next: { next: {} } } },
  { next: { next: { next: 1 } } },
  { 'a/b': 1, 'm~n': 'x' },
]

/** As JSON: an object of JavaScript with a field `then` is taken for a promise. */
const conditions = JSON.parse(`[
  { "if": { "type": "integer" }, "then": { "minimum": 1 }, "else": { "type": "string" } },
  { "if": { "required": ["a"] }, "then": { "required": ["b"] } },
  { "if": { "required": ["a"] }, "else": { "maxProperties": 1 } },
  { "then": false }
]`) as Schema[]

const schemas: Record<string, Schema[]> = {
  type: [
    ...['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'].map((type) => ({ type })),
    { type: ['string', 'null'] },
    { type: ['integer', 'object'] },
  ],
  'enum and const': [
    { enum: [1, 'a', null] },
    { enum: [[1], { a: 1 }] },
    { enum: [false] },
    { enum: [0] },
    { const: { b: 2, a: 1 } },
    { const: [1, true] },
    { const: 0 },
    { const: null },
  ],
  numbers: [
    { minimum: 1 },
    { maximum: 1.5 },
    { exclusiveMinimum: 1 },
    { exclusiveMaximum: 2 },
    { multipleOf: 2 },
    { multipleOf: 0.5 },
    { type: 'integer', minimum: 0, maximum: 3 },
  ],
  strings: [
    { minLength: 1 },
    { maxLength: 1 },
    { minLength: 2, maxLength: 3 },
    { pattern: '^a' },
    { pattern: 'o+b' },
    { pattern: '^.$' },
    { pattern: '' },
  ],
  formats: [
    'date',
    'date-time',
    'time',
    'email',
    'uri',
    'uuid',
    'ipv4',
    'ipv6',
    'hostname',
    'json-pointer',
    'regex',
    'of-a-tool',
  ].map((format) => ({ format })),
  lists: [
    { items: { type: 'integer' } },
    { items: [{ type: 'integer' }, { type: 'string' }] },
    { items: [{ type: 'integer' }], additionalItems: false },
    { items: [{}], additionalItems: { type: 'boolean' } },
    { items: {}, additionalItems: false },
    { items: false },
    { minItems: 1 },
    { maxItems: 1 },
    { uniqueItems: true },
    { uniqueItems: false },
    { contains: { const: 1 } },
    { contains: { type: 'string' } },
    { contains: false },
  ],
  objects: [
    { properties: { a: { type: 'integer' }, b: false } },
    { properties: { constructor: { type: 'string' }, isPrototypeOf: { type: 'string' } } },
    { properties: { 'a/b': { const: 1 } } },
    { required: ['a'] },
    { required: ['a', 'b'] },
    { required: ['constructor'] },
    { required: ['__proto__'] },
    { minProperties: 1 },
    { maxProperties: 1 },
    { additionalProperties: false },
    { properties: { a: {} }, additionalProperties: false },
    { properties: { a: {} }, patternProperties: { '^b': {} }, additionalProperties: { type: 'string' } },
    { patternProperties: { 'o{2}': { type: 'integer' }, '^b': true, '^c': false } },
    { propertyNames: { maxLength: 1 } },
    { propertyNames: { enum: ['a', 'b'] } },
    { propertyNames: false },
    { dependencies: { a: ['b'] } },
    { dependencies: { a: { required: ['c'] }, b: true } },
    { dependencies: { foo: false } },
  ],
  combinations: [
    { allOf: [{ type: 'integer' }, { minimum: 2 }] },
    { allOf: [true, false] },
    { anyOf: [{ type: 'string' }, { minimum: 2 }] },
    { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    { oneOf: [{ type: 'integer' }, { minimum: 2 }] },
    { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { oneOf: [true, true] },
    { not: { type: 'integer' } },
    { not: {} },
    { not: { required: ['a'] } },
    ...conditions,
    {
      oneOf: [
        { properties: { kind: { const: 'circle' }, radius: { type: 'number' } }, required: ['kind', 'radius'] },
        { properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] },
      ],
    },
  ],
  references: [
    { $ref: '#/definitions/short', definitions: { short: { type: 'string', maxLength: 2 } } },
    { properties: { next: { $ref: '#' } }, additionalProperties: false },
    { properties: { a: { $ref: '#/$defs/number' } }, $defs: { number: { type: 'number' } } },
    { items: { $ref: '#/definitions/a' }, definitions: { a: { $ref: '#/definitions/b' }, b: { type: 'integer' } } },
    { allOf: [{ $ref: '#/definitions/a~1b' }], definitions: { 'a/b': { minProperties: 1 } } },
    { allOf: [{ $ref: '#/definitions/m~0n' }], definitions: { 'm~n': { maxLength: 1 } } },
    { allOf: [{ $ref: '#/definitions/with%20space' }], definitions: { 'with space': { type: 'object' } } },
    { properties: { $ref: { type: 'string' } } },
  ],
  'what they combine': [
    { type: 'object', properties: { a: { anyOf: [{ type: 'null' }, { type: 'integer', minimum: 1 }] } } },
    { type: 'array', items: { type: 'object', required: ['a'], properties: { a: { maximum: 1 } } }, uniqueItems: true },
    { title: 'A title', description: 'Says nothing', 'x-of-a-tool': { deep: true }, type: ['array', 'object'] },
    { minimum: 1, minLength: 2, minItems: 2, minProperties: 2 },
  ],
}

/** As Ajv finds it, which validates what the platform's own operations take; inherited properties are none. */
function expected(schema: Schema) {
  const ajv = new Ajv({ strict: false, logger: false, useDefaults: true, ownProperties: true })
  addFormats.default(ajv)
  const isValid = ajv.compile(schema)
  return (data: unknown) => ({ data, valid: isValid(data) })
}

function found(schema: Schema) {
  const untrusted = new UntrustedSchema(schema, 'the schema')
  return (data: unknown) => ({ data, valid: 'completed' in untrusted.validate(data as object) })
}

describe.each(Object.entries(schemas))('schemas of %s', (_kind, given) => {
  test.each(given.map((schema) => [JSON.stringify(schema), schema] as const))(
    '%s finds valid what Ajv finds valid',
    (_text, schema) => {
      expect(values.map(found(schema))).toEqual(values.map(expected(schema)))
    },
  )
})

describe('defaults', () => {
  test.each<[string, Schema, object, object]>([
    ['are filled in', { properties: { a: { default: 1 } } }, {}, { a: 1 }],
    ['replace nothing that is there', { properties: { a: { default: 1 } } }, { a: null }, { a: null }],
    [
      'are filled in at every level',
      { properties: { a: { default: {}, properties: { b: { default: [] } } } } },
      {},
      { a: { b: [] } },
    ],
    [
      'are filled in at places of a list',
      { properties: { a: { items: [{}, { default: 2 }] } } },
      { a: [1] },
      { a: [1, 2] },
    ],
    [
      'of one of several alternatives are not filled in',
      { anyOf: [{ properties: { a: { default: 1 } } }, { properties: { b: { default: 2 } } }] },
      {},
      {},
    ],
  ])('%s', (_what, schema, given, completed) => {
    expect(new UntrustedSchema(schema, 'the schema').validate(given)).toEqual({ completed })
    // As Ajv does it, in place.
    const data = structuredClone(given)
    expected(schema)(data)
    expect(data).toEqual(completed)
  })
})
