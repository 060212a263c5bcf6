import { parse } from 'node:querystring'
import { describe, expect, test } from 'vitest'
import { toTagConditions } from '#shared/models/tag-filter.ts'
import { nestTagQuery } from '#shared/rpc/tag-query.ts'

const conditionsOf = (query: string) =>
  toTagConditions(nestTagQuery({ ...parse(query) })['tags'] as Record<string, unknown> | undefined)

const asText = (filter: object | string) =>
  `tags=${encodeURIComponent(typeof filter === 'string' ? filter : JSON.stringify(filter))}`

describe('a filter by tags', () => {
  test.each([
    ['a value', ['tags.a=x', 'tags[a]=x', asText({ a: 'x' })], [{ tag: 'a', anyOf: ['x'] }]],
    [
      'one of several values',
      ['tags.a=x&tags.a=y', 'tags[a][0]=x&tags[a][1]=y', 'tags[a][]=x&tags[a][]=y', 'tags.a[0]=x&tags.a[1]=y'],
      [{ tag: 'a', anyOf: ['x', 'y'] }],
    ],
    [
      'not',
      ['tags.a.not=x', 'tags[a][not]=x', 'tags[a][not][0]=x', asText({ a: { not: 'x' } })],
      [{ tag: 'a', noneOf: ['x'] }],
    ],
    [
      'in',
      ['tags.c.in=p&tags.c.in=q', 'tags[c][in][0]=p&tags[c][in][1]=q', asText({ c: { in: ['p', 'q'] } })],
      [{ tag: 'c', anyOf: ['p', 'q'] }],
    ],
    [
      'exists',
      ['tags.b.exists=false', 'tags[b][exists]=false', asText({ b: { exists: false } })],
      [{ tag: 'b', exists: false }],
    ],
    [
      'several tags and operators',
      ['tags.a=x&tags.b.not=y&tags.b.exists=true', asText({ a: 'x', b: { not: ['y'], exists: true } })],
      [
        { tag: 'a', anyOf: ['x'] },
        { tag: 'b', noneOf: ['y'], exists: true },
      ],
    ],
    ['a name with dots', ['tags.a.b.c=x', 'tags[a.b.c]=x'], [{ tag: 'a.b.c', anyOf: ['x'] }]],
    ['a name that is an operator', ['tags.not=x', 'tags[not]=x'], [{ tag: 'not', anyOf: ['x'] }]],
    ['a name that ends in an operator', ['tags[a.not]=x', asText({ 'a.not': 'x' })], [{ tag: 'a.not', anyOf: ['x'] }]],
    ['a name that is a number', ['tags.0=x', 'tags[0]=x'], [{ tag: '0', anyOf: ['x'] }]],
    ['an empty value', ['tags.a=', 'tags[a]=', asText({ a: null })], [{ tag: 'a', anyOf: [''] }]],
    ['nothing', ['', 'tags=', 'pageSize=3', asText({})], []],
  ])('of %s is read alike in every encoding', (_what, queries, conditions) => {
    expect(queries.map((query) => conditionsOf(query))).toEqual(queries.map(() => conditions))
  })

  test('has the tag __proto__ like any other', () => {
    for (const query of ['tags.__proto__=x', 'tags[__proto__]=x', asText('{"__proto__":"x"}')]) {
      expect(conditionsOf(query)).toEqual([{ tag: '__proto__', anyOf: ['x'] }])
    }
    expect(conditionsOf('tags[__proto__][not]=x')).toEqual([{ tag: '__proto__', noneOf: ['x'] }])
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  test('leaves the other fields of the query as they are', () => {
    expect(nestTagQuery({ ...parse('pageSize=3&ids=a&ids=b&tags.a=x') })).toEqual({
      pageSize: '3',
      ids: ['a', 'b'],
      tags: { a: ['x'] },
    })
  })

  test.each([
    ['an unknown operator', 'tags[a][like]=x', /'like'.*not, in, exists/],
    ['an unknown operator in a text', asText({ a: { like: 'x' } }), /'like'.*not, in, exists/],
    ['an operator that is inherited', asText('{"a":{"__proto__":1}}'), /'__proto__'/],
    ['an operator within an operator', 'tags[a][not][in]=x', /too deep/],
    ['values beside operators', 'tags.a=x&tags.a.not=y', /use the operator 'in'/],
    ['two filters', `tags.a=x&${asText({ a: 'x' })}`, /twice/],
    ['a text that is no JSON', 'tags=red', /JSON object/],
    ['a text that is no object', 'tags=%5B%5D', /JSON object/],
    ['too many tags', asText(Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, 'x']))), /50 tags/],
    ['too many values', asText({ a: Array.from({ length: 101 }, () => 'x') }), /100 values/],
    ['a value that is no text', asText({ a: 1 }), /texts/],
    ['a value that is nested deep', asText({ a: [[['x']]] }), /texts/],
    ['a filter of depth 1,000', asText(`{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`), /texts/],
    ['exists of anything else', 'tags.a.exists=perhaps', /true or false/],
    ['a tag without a name', asText({ '': 'x' }), /name of a tag/],
  ])('with %s is refused', (_what, query, message) => {
    expect(() => conditionsOf(query)).toThrow(message)
    expect(() => conditionsOf(query)).toThrow(expect.objectContaining({ type: 'InvalidQuery' }))
  })
})
