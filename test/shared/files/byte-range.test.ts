import { expect, test } from 'vitest'
import { readRange } from '#shared/files/byte-range.ts'
import { processorMilliseconds } from '../../support/processor-time.ts'

const etag = '"a"'
const rangeOf = (range: string) => readRange({ range, ifRange: undefined }, 10, etag)

test.each([
  ['bytes=2-4', { start: 2, end: 4 }],
  ['bytes= 2 - 4 ', { start: 2, end: 4 }],
  ['Bytes=7-', { start: 7, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-30', { start: 0, end: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  [`bytes=${'9'.repeat(400)}-`, 'unsatisfiable'],
  ['bytes=-', undefined],
  ['bytes=4-2', undefined],
  ['bytes=1-2,4-5', undefined],
  ['lines=1-2', undefined],
])('the range %s of a content of ten bytes is read', (range, expected) => {
  expect(rangeOf(range)).toEqual(expected)
})

test.each(['bytes=', 'bytes=-', 'bytes=1', 'bytes=1-1'])(
  'a long row of spaces after %s does not keep the process from others',
  async (start) => {
    const milliseconds = await processorMilliseconds(() => rangeOf(`${start}${' '.repeat(100_000)}!`))
    expect(milliseconds).toBeLessThan(1000)
  },
)
