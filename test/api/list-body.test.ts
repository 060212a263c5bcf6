import { describe, expect, test } from 'vitest'
import { JsonList } from '#shared/json-list.ts'
import { ListBody } from '../../api/list-body.ts'

const wanted = { field: 'rows', maxElements: 3, maxElementBytes: 1000, maxBytes: 10_000 }

/** Reads a text in parts of a size, and parses the elements. */
function read(text: string, size: number): unknown {
  const body = new ListBody(wanted)
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) body.take(bytes.subarray(start, start + size))
  const read = body.end((others) => new TextDecoder().decode(others)) as Record<string, unknown>
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
