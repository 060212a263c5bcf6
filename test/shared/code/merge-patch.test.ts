import { describe, expect, test } from 'vitest'
import { mergePatch } from '#shared/code/merge-patch.ts'

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    list: { type: 'array' },
    anything: { type: 'object', additionalProperties: true },
    map: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { name: { type: 'string' }, inner: { type: 'object', additionalProperties: { type: 'string' } } },
      },
    },
  },
}

describe('a change of a definition', () => {
  test.each([
    ['sets what was not there', {}, { title: 'a' }, { title: 'a' }],
    ['leaves what it does not name', { title: 'a', list: [1] }, { list: [2] }, { title: 'a', list: [2] }],
    ['takes a field away with null', { title: 'a', list: [1] }, { title: null }, { list: [1] }],
    ['passes over what is undefined', { title: 'a' }, { title: undefined }, { title: 'a' }],
    ['replaces a list whole', { list: [1, 2] }, { list: [3] }, { list: [3] }],
    [
      'replaces a free object whole',
      { anything: { a: 1, b: { c: 2 } } },
      { anything: { b: {} } },
      { anything: { b: {} } },
    ],
    ['keeps a null inside of a free object', {}, { anything: { a: null } }, { anything: { a: null } }],
    [
      'merges a map by its entries, and those by their fields',
      { map: { a: { name: 'A', inner: { x: '1', y: '2' } }, b: { name: 'B' } } },
      { map: { a: { inner: { x: null, z: '3' } }, b: null, c: { name: 'C' } } },
      { map: { a: { name: 'A', inner: { y: '2', z: '3' } }, c: { name: 'C' } } },
    ],
    ['has no nulls in what is new', {}, { map: { a: { inner: { x: null } } } }, { map: { a: { inner: {} } } }],
  ])('%s', (_what, before, change, after) => {
    const untouched = structuredClone(before)
    expect(mergePatch(schema, before, change)).toEqual(after)
    expect(before).toEqual(untouched)
  })

  test('makes no prototype of an entry that is called like one', () => {
    const change = JSON.parse('{ "map": { "__proto__": { "name": "evil" } } }') as Record<string, unknown>
    const { map } = mergePatch(schema, {}, change) as { map: object }
    expect(Object.getPrototypeOf(map)).toBe(Object.prototype)
    expect(Object.keys(map)).toEqual(['__proto__'])
  })
})
