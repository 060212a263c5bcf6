import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { megabyte } from '#shared/units.ts'
import { decoded } from './decoded.ts'
import { jsonRecords } from './json-records.ts'
import { maxRecordCharacters, UnreadableFileError } from './unreadable-file.ts'

/** A record of a file: values by column from JSON, cells by column from CSV. */
export type FileRecord = { characters: number } & (
  | { values: Record<string, unknown> }
  | { cells: [column: string, cell: string | null][] }
  | { problem: string }
)

/** Maximum of an unpacked file: a small file of zeros unpacks to a thousand times its bytes. */
const maxUnpackedBytes = 1024 * megabyte
/** Bytes that are parsed in one turn of the event loop: the smallest records take 25 ms for them. */
const sliceBytes = 8 * 1024
/** Cells of one record of CSV. An empty cell is no character of the record, and is an element of its array. */
const maxCells = 1000

/**
 * Reads the records of a file, of which it holds one at a time. The content tells the format: gzip by its first bytes,
 * JSON by its first character, all else is CSV, whose first record has the names of the columns.
 *
 * @throws UnreadableFileError, or the error of the stream
 */
export async function* readRecords(content: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
  try {
    yield* recordsIn(inTurns(await unpacked(content)))
  } catch (error) {
    throw explained(error)
  }
}

async function unpacked(content: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const { head, whole } = await peek(content, 2)
  const isGzip = head[0] === 0x1f && head[1] === 0x8b
  return isGzip ? bounded(through(whole, createGunzip())) : whole
}

/** Cuts content into slices, and lets other work of the process go on after each. */
async function* inTurns(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of content) {
    for (let start = 0; start < part.length; start += sliceBytes) {
      yield part.subarray(start, start + sliceBytes)
      await setImmediate()
    }
  }
}

async function* recordsIn(content: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
  const { head, whole } = await peek(content, 1024)
  if (/^\ufeff?\s*[[{]/.test(head.toString())) yield* recordsOfJson(decoded(whole))
  else yield* recordsOfCsv(decoded(whole))
}

async function* recordsOfJson(texts: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  for await (const { value, characters } of jsonRecords(texts)) {
    yield { values: value as Record<string, unknown>, characters }
  }
}

async function* recordsOfCsv(texts: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  // A worker that imports nothing need not load it.
  const { parse } = await import('csv-parse')
  const { header, all } = await withHeader(texts)
  const parser = parse({
    bom: true,
    delimiter: separatorOf(header),
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: maxRecordCharacters,
    cast: (cell, { quoting, index, lines }) => {
      if (index >= maxCells) throw new UnreadableFileError(`Line ${lines} of the CSV has more than ${maxCells} cells`)
      // An empty text is quoted, no value is not.
      return cell === '' && !quoting ? null : cell
    },
  })
  let columns: string[] | undefined
  for await (const record of through(all, parser) as AsyncIterable<(string | null)[]>) {
    if (!columns) {
      columns = record.map((name) => name ?? '')
      if (new Set(columns).size < columns.length) throw new UnreadableFileError('Two columns of the CSV have one name')
      continue
    }
    const characters = record.reduce((sum, cell) => sum + (cell?.length ?? 0), 0)
    const problem = `has ${record.length} cells, more than there are columns (${columns.length})`
    yield record.length > columns.length
      ? { problem, characters }
      : { cells: record.map((cell, index) => [columns![index]!, cell]), characters }
  }
}

const separators = [',', ';', '\t']

/** The separator of a CSV: spreadsheets of many languages write semicolons, and their texts have tabs. */
function separatorOf(header: string): string {
  const [unquoted = ''] = header.replace(/"[^"]*"/g, '').split(/[\r\n]/, 1)
  const countOf = (separator: string) => unquoted.split(separator).length
  return separators.toSorted((one, other) => countOf(other) - countOf(one))[0]!
}

/** Reads the first line, as far as it is needed, without taking it away. */
async function withHeader(texts: AsyncIterable<string>): Promise<{ header: string; all: AsyncIterable<string> }> {
  const iterator = texts[Symbol.asyncIterator]()
  let header = ''
  while (header.length < sliceBytes && !/[\r\n]/.test(header)) {
    const next = await iterator.next()
    if (next.done) break
    header += next.value
  }
  async function* all(): AsyncGenerator<string> {
    yield header
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { header, all: all() }
}

/** Reads the first bytes without taking them away. */
async function peek(content: AsyncIterable<Uint8Array>, bytes: number) {
  const iterator = content[Symbol.asyncIterator]()
  const parts: Uint8Array[] = []
  let length = 0
  while (length < bytes) {
    const next = await iterator.next()
    if (next.done) break
    parts.push(next.value)
    length += next.value.length
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield* parts
      yield* { [Symbol.asyncIterator]: () => iterator }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: Buffer.concat(parts).subarray(0, bytes), whole: whole() }
}

/** Passes a stream through another one. An error of either is thrown to the reader. */
function through(content: AsyncIterable<Uint8Array | string>, transform: Transform): Transform {
  pipeline(Readable.from(content, { objectMode: false, highWaterMark: sliceBytes }), transform).catch(() => {})
  return transform
}

async function* bounded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let total = 0
  for await (const part of content) {
    total += part.length
    if (total > maxUnpackedBytes) {
      throw new UnreadableFileError(`The file unpacks to more than ${maxUnpackedBytes / megabyte} MB`)
    }
    yield part
  }
}

function explained(error: unknown): unknown {
  const { code = '', message } = error as { code?: unknown; message: string }
  if (typeof code !== 'string') return error
  if (code.startsWith('CSV_')) return new UnreadableFileError(`The file is not valid CSV: ${message.slice(0, 300)}`)
  if (code.startsWith('Z_')) return new UnreadableFileError('The file begins like gzip, and is not valid gzip')
  return error
}
