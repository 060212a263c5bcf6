import { parse } from 'node:querystring'
import { expect, test } from 'vitest'
import { nestQuery, withoutEmptyTimes } from '#shared/rpc/query.ts'

test.each([
  ['pageSize=2', { pageSize: '2' }],
  ['participantIds=a&participantIds=b', { participantIds: ['a', 'b'] }],
  ['tags.x%3Ay=z%20w&tags.b=1', { tags: { 'x:y': 'z w', b: '1' } }],
  ['tags.a.b=1', { tags: { 'a.b': '1' } }],
  ['tags[a.b]=1&tags[c]=2', { tags: { 'a.b': '1', c: '2' } }],
  ['tags.a[0]=1', { tags: { 'a[0]': '1' } }],
  ['tags.a=x&tags.a=y', { tags: { a: ['x', 'y'] } }],
  ['__proto__.polluted=1', JSON.parse('{"__proto__":{"polluted":"1"}}')],
])('the query %s is read as published clients mean it', (query, expected) => {
  const nested = nestQuery(parse(query))
  expect(JSON.stringify(nested)).toBe(JSON.stringify(expected))
  expect({}).not.toHaveProperty('polluted')
})

test('a query that is nested already stays as it is', () => {
  expect(nestQuery({ tags: { 'a.b': '1' }, pageSize: 3 })).toEqual({ tags: { 'a.b': '1' }, pageSize: 3 })
})

test('a time without a value counts as absent, and other fields keep theirs', () => {
  const input = { properties: { beforeDate: { type: 'string', format: 'date-time' }, query: { type: 'string' } } }
  const fields = { beforeDate: '', query: '', toString: '' }
  expect(withoutEmptyTimes(input, fields)).toEqual({ query: '', toString: '' })
  expect(withoutEmptyTimes(input, { beforeDate: 'x' })).toEqual({ beforeDate: 'x' })
})
