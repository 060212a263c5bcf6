import { describe, expect, test } from 'vitest'
import { jsonRecords } from '../../../worker/tables/json-records.ts'
import { maxRecordCharacters } from '../../../worker/tables/unreadable-file.ts'

const records = [{ a: 1, text: 'x" ] } \\' }, {}, { deep: [{ b: [[]] }], rows: [{ c: 1 }] }]
const texts = {
  'an array': JSON.stringify(records),
  'an array with spaces': ` ${JSON.stringify(records, null, 2)}\n`,
  'JSON lines': records.map((record) => JSON.stringify(record)).join('\n'),
  'an export': JSON.stringify({
    schema: { rows: [{ no: 1 }], properties: { rows: {} } },
    more: 'rows',
    rows: records,
    after: [{}],
  }),
}

async function split(text: string, size: number): Promise<unknown[]> {
  async function* chunks() {
    for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
  }
  const found: unknown[] = []
  for await (const { value } of jsonRecords(chunks())) found.push(value)
  return found
}

describe.each(Object.entries(texts))('%s', (_name, text) => {
  test.each([1, 2, 3, 7, 64, 100_000])('gives its records, however it is cut: by %i', async (size) => {
    expect(await split(text, size)).toEqual(records)
  })
})

test('no record, and no text', async () => {
  expect(await split('[]', 1)).toEqual([])
  expect(await split('', 1)).toEqual([])
  expect(await split('{"schema":{},"rows":[]}', 1)).toEqual([])
})

test.each([
  ['[1]', "begins with '1'"],
  ['["x"]', "begins with '\"'"],
  ['[[{}]]', 'is an array'],
  ['{"a":1', 'ends within'],
  ['[{"a":1}', 'ends within'],
  ['[{"a":}]', 'not valid JSON'],
  ['nonsense', "begins with 'n'"],
])('%s is refused', async (text, message) => {
  await expect(split(text, 3)).rejects.toThrow(message)
})

test('an export is split in linear time, with any content before its rows', { timeout: 10_000 }, async () => {
  // Copies of the text before each list would be some hundred gigabytes.
  const text = `{"schema":[${'[],'.repeat(1_000_000)}[]],${'"a":[],'.repeat(150_000)}"rows":[{"b":1}]}`
  expect(await split(text, 1_000_000)).toEqual([{ b: 1 }])
})

async function* endless() {
  yield '[{"a":"'
  for (;;) yield 'x'.repeat(65_536)
}

test('a record beyond its bound is refused before it is held', async () => {
  await expect(jsonRecords(endless()).next()).rejects.toThrow(`more than ${maxRecordCharacters} characters`)
})
