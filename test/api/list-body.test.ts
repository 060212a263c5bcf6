import { Readable } from 'node:stream'
import type { Request } from 'express'
import { describe, expect, test } from 'vitest'
import { JsonList } from '#shared/json/json-list.ts'
import { readBody } from '../../api/body.ts'
import { ListBody } from '../../api/list-body.ts'
import { turnsDuring } from '../support/turns.ts'

const wanted = { field: 'rows', maxElements: 3, maxElementBytes: 1000, maxBytes: 10_000 }

/** Reads a text in parts of a size, and parses the elements. */
function read(text: string, size: number): unknown {
  const body = new ListBody(wanted)
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) body.take(bytes.subarray(start, start + size))
  const read = body.end() as Record<string, unknown>
  return read['rows'] instanceof JsonList ? { ...read, rows: [...read['rows'].drain()] } : read
}

const sizes = [1, 2, 7, 1000]

describe('a body with a list', () => {
  test.each([
    '{"rows":[{"a":1},{"b":[1,{"rows":[2]}]}],"keyColumn":"a"}',
    ' { "keyColumn" : "rows" , "rows" : [ ] } ',
    '{"rows":[],"rows":[1,2]}',
    '{"rows":[1,2],"rows":"none"}',
    '{"other":{"rows":[1,2]},"rows":["[,]\\"}",{"ü€😀":"\\\\"}]}',
    '{"r\\u006fws":[1,2]}',
    '{"a\\"rows":[1,2,3,4,5]}',
    '{"__proto__":1,"rows":[{"__proto__":{"polluted":true}}]}',
    '["rows",[1,2]]',
    `{"rows":["${'long '.repeat(100)}","${'\\\\'.repeat(100)}","${'€\\"]'.repeat(100)}"],"other":"${'[{,'.repeat(50)}"}`,
    '{}',
    '5',
  ])('is what JSON.parse makes of %s, however it is split', (text) => {
    for (const size of sizes) expect(read(text, size)).toEqual(JSON.parse(text))
  })

  test.each([
    '{"rows":[{"a":1}',
    '{"rows":[{"a":1},]}',
    '{"rows":[,{"a":1}]}',
    '{"rows":[{"a":1} {"a":2}]}',
    '{"rows":[{"a":1]}',
    '{"rows":[{"a":1}}',
    '{"rows":["a]}',
    '{"rows":[1]]}',
    '{"rows" [1]}',
    '[[[',
    '"',
  ])('that is no JSON fails: %s', (text) => {
    for (const size of sizes) expect(() => read(text, size)).toThrow(/JSON/)
  })

  test.each([
    ['elements', `{"rows":[${Array(4).fill('{}').join()}]}`, 'rows must NOT have more than 3 items'],
    ['bytes in an element', `{"rows":[1,"${'x'.repeat(1000)}`, 'rows.1 has more than'],
    ['bytes between elements', `{"rows":[1,${' '.repeat(1001)}`, 'rows.1 has more than'],
    ['levels', `{"rows":[${'['.repeat(600)}`, 'nested more than 500 levels'],
    ['levels beside the list', '['.repeat(600), 'nested more than 500 levels'],
    ['bytes beside the list', `{"other":"${'x'.repeat(1024 * 1024)}`, 'have more than 1 MB'],
  ])('of too many %s fails before its end', (_, text, message) => {
    const body = new ListBody(wanted)
    expect(() => body.take(Buffer.from(text))).toThrow(message)
  })
})

test('other requests are answered between the parts of a large body', async () => {
  const maxBytes = 50_000_000
  const element = `[${'[],'.repeat(20_000)}0]`
  const bytes = Buffer.from(`{"rows":[${Array.from({ length: 600 }, () => element).join(',')}]}`)
  function* parts() {
    for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536)
  }
  const request = Object.assign(Readable.from(parts()), {
    headers: { 'transfer-encoding': 'chunked' },
    path: '/v1/tables/xTable/rows',
    complete: true,
  })
  const largeList = { ...wanted, maxElements: 1000, maxElementBytes: 100_000, maxBytes }
  const { result, turns } = await turnsDuring(() =>
    readBody(request as unknown as Request, { largeList, hold: () => {} }),
  )
  expect((result as { rows: JsonList }).rows).toHaveLength(600)
  expect(turns).toBeGreaterThan(5)
})
