import { describe, expect, test } from 'vitest'
import { compileForeign, validateForeign } from '#shared/foreign-schema.ts'

describe('a developer’s schema', () => {
  test('is not compiled when it is so long that nothing else would happen meanwhile', () => {
    const properties = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`p${index}`, { type: 'string' }]))
    expect(() => compileForeign({ properties }, 'configuration')).toThrow(
      expect.objectContaining({ type: 'LimitExceeded', message: expect.stringMatching(/^configuration is longer/) }),
    )
  })

  test('fills in its defaults and leaves the given data as it is', () => {
    const schema = { type: 'object', properties: { currency: { type: 'string', default: 'EUR' } } }
    const given = { token: 'x' }
    expect(validateForeign(schema, given, 'configuration')).toEqual({ token: 'x', currency: 'EUR' })
    expect(given).toEqual({ token: 'x' })
  })

  test.each([
    ['of the draft that old tools name', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['of the draft that new tools name', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['with keywords of a tool', { properties: { a: { type: 'string', 'x-zui': { secret: true } } } }],
    ['with a format that is not known', { properties: { a: { type: 'string', format: 'colour' } } }],
    ['that is asynchronous', { $async: true }],
    ['with an id that another one has', { $id: 'the same' }],
    ['with an id that another one has, again', { $id: 'the same' }],
  ])('%s is taken', (_what, schema) => {
    expect(validateForeign(schema, { a: 'x' }, 'configuration')).toEqual({ a: 'x' })
  })

  test.each([
    [{ type: 'nonsense' }],
    [{ $ref: 'https://elsewhere.example' }],
    [{ properties: { a: { pattern: '(' } } }],
  ])('%j is refused by name', (schema) => {
    expect(() => compileForeign(schema, 'configuration')).toThrow(
      expect.objectContaining({ type: 'InvalidJsonSchema', message: expect.stringMatching(/^configuration: /) }),
    )
  })

  test('says what is wrong with the data, and where', () => {
    const schema = { properties: { shop: { properties: { port: { type: 'integer' } } } } }
    expect(() => validateForeign(schema, { shop: { port: 'x' } }, 'configuration')).toThrow(
      expect.objectContaining({ type: 'InvalidDataFormat', message: 'configuration: shop.port must be integer' }),
    )
  })

  test('with a pattern that takes for ever is given up', () => {
    const schema = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
    expect(() => validateForeign(schema, { a: `${'a'.repeat(100)}!` }, 'configuration')).toThrow(/takes too long/)
  })
})
