import { setImmediate } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { megabyte } from '#shared/units.ts'
import { csvRecords, type CsvRecord } from './csv-records.ts'
import { decoded } from './decoded.ts'
import { jsonRecords } from './json-records.ts'
import { sliceBytes, through } from './through.ts'
import { UnreadableFileError } from './unreadable-file.ts'

/** A record of a file: values by column from JSON, cells by column from CSV. */
export type FileRecord = { values: Record<string, unknown>; characters: number } | CsvRecord

/** Maximum of an unpacked file: a small file of zeros unpacks to a thousand times its bytes. */
const maxUnpackedBytes = 1024 * megabyte

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
  else yield* csvRecords(decoded(whole))
}

async function* recordsOfJson(texts: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  for await (const { value, characters } of jsonRecords(texts)) {
    yield { values: value as Record<string, unknown>, characters }
  }
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
