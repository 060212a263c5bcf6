import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readRecords } from '../../../worker/tables/records.ts'

/** Reads a file whose parts are as large as those of the object store. */
async function read(content: Buffer) {
  let [records, ofTurn, most, turns] = [0, 0, 0, 0]
  const reading = new AbortController()
  async function countTurns() {
    while (!reading.signal.aborted) {
      most = Math.max(most, ofTurn)
      ofTurn = 0
      turns += 1
      await setImmediate()
    }
  }
  async function* parts() {
    for (let start = 0; start < content.length; start += 1e6) yield content.subarray(start, start + 1e6)
  }
  const counted = countTurns()
  let error: Error | undefined
  try {
    for await (const _ of readRecords(parts())) {
      records += 1
      ofTurn += 1
    }
  } catch (thrown) {
    error = thrown as Error
  }
  reading.abort()
  await counted
  return { records, most, turns, error }
}

describe('other work of the process goes on', () => {
  const count = 200_000
  test.each([
    ['the smallest records of CSV', Buffer.from(`a\n${'x\n'.repeat(count)}`)],
    ['the smallest records of JSON', Buffer.from('{}'.repeat(count))],
    ['packed records', gzipSync(`a\n${'x\n'.repeat(count)}`)],
  ])('while %s are read', async (_name, content) => {
    const { records, most } = await read(content)
    expect(records).toBe(count)
    expect(most).toBeLessThanOrEqual(8192)
  })

  test.each([
    ['empty lines', Buffer.alloc(2e6, '\n'), ''],
    ['a line of one cell', Buffer.alloc(40e6, 'x'), 'not valid CSV'],
    ['a quoted cell', Buffer.concat([Buffer.from('"'), Buffer.alloc(40e6, ',')]), 'not valid CSV'],
    ['an export before its rows', Buffer.from(`{"schema":${'[],'.repeat(500_000)}`), 'ends within'],
    ['spaces in JSON', Buffer.concat([Buffer.from('['), Buffer.alloc(2e6, ' '), Buffer.from(']')]), ''],
  ])('while %s is read that has no record', async (_name, content, problem) => {
    const { records, turns, error } = await read(content)
    expect(records).toBe(0)
    expect(error?.message ?? '').toContain(problem)
    expect(error === undefined).toBe(problem === '')
    // A record ends the reading after a megabyte.
    expect(turns).toBeGreaterThan(1e6 / 16_384)
  })
})

test.each([
  ['a line of commas', Buffer.alloc(40e6, ','), 'Line 1 of the CSV has more than 1000 cells'],
  ['a record of commas', Buffer.concat([Buffer.from('a\n'), Buffer.alloc(40e6, ',')]), 'Line 2 of the CSV'],
])('%s is refused before it is held', async (_name, content, problem) => {
  const { turns, error } = await read(content)
  expect(error?.message).toContain(problem)
  expect(turns).toBeLessThan(20)
})

describe('a CSV of a spreadsheet', () => {
  const text = 'name;"town; or village"\r\nZoë;"Köln; am Rhein"\r\n'
  const utf16 = Buffer.from(`\ufeff${text.replaceAll(';', '\t')}`, 'utf16le')
  test.each([
    ['UTF-8 with semicolons', Buffer.from(text), ';'],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), ';'],
    ['Windows-1252 with semicolons', Buffer.from(text, 'latin1'), ';'],
    ['UTF-16 with tabs', utf16, '\t'],
    ['UTF-16 with tabs, in the other order', Buffer.from(utf16).swap16(), '\t'],
    ['UTF-16 without a byte order mark', utf16.subarray(2), '\t'],
    ['UTF-16 without a byte order mark, in the other order', Buffer.from(utf16).swap16().subarray(2), '\t'],
  ])('is read as %s, however it is cut', async (_name, content, separator) => {
    const within = (cell: string) => cell.replace(';', separator)
    for (const size of [1, 2, 3, 7, 1000]) {
      const parts = async function* () {
        for (let start = 0; start < content.length; start += size) yield content.subarray(start, start + size)
      }
      expect(await Array.fromAsync(readRecords(parts()))).toMatchObject([
        {
          cells: [
            ['name', 'Zoë'],
            [within('town; or village'), within('Köln; am Rhein')],
          ],
        },
      ])
    }
  })
})
