import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { send as sendJson } from '../../support/platform.ts'
import type { Chances } from '../random.ts'
import { tables } from './bot.ts'

/** A program that writes files and rows of tables over HTTP, and knows the outcome of what was acknowledged. */
export interface Writer {
  name: string
  /** By key. */
  files: Map<string, WrittenFile>
  /** Numbers of the rows with keys, by key. */
  stock: Map<string, number>
  /** Numbers of the other rows, by id. */
  entries: Map<number, number>
}

export interface WrittenFile {
  sha256: string
  isIndexed: boolean
  /** A text that is only in this content. */
  mark: string
}

export interface DataCounts {
  uploads: number
  uploadedBytes: number
  /** Acknowledged requests that wrote rows. */
  writes: number
  /** Other answers by status; 0 for no answer. A retry followed each. */
  refusals: Map<number, number>
  /** Uploads whose repetition found the content there. */
  found: number
}

export interface WriterOptions {
  /** URLs of the api processes. */
  apiUrls: string[]
  headers: Record<string, string>
  chances: Chances
  /** Milliseconds between two writes of a writer, on average. */
  pauseMilliseconds: number
  isOver(): boolean
}

/** The tables of the writers, which all of them share. */
export const writerTables = {
  stock: { name: 'stockTable', keyColumn: 'item', columns: { item: 'string', number: 'number' } },
  entries: { name: 'entriesTable', columns: { writer: 'string', number: 'number' } },
} as const

/** Items that all writers upsert; whoever is last, each is one row. */
export const sharedItems = ['shared 1', 'shared 2', 'shared 3']

const filesOfWriter = 6
const itemsOfWriter = 8
const maxRandomBytes = 1_500_000
const answerMilliseconds = 15_000
const retryMilliseconds = 300
const mayPass = new Set([0, 408, 409, 429, 500, 502, 503, 504])

/** Creates all tables of the bot. */
export async function createTables(apiUrl: string, headers: Record<string, string>): Promise<void> {
  for (const { name, columns, ...others } of [...Object.values(tables), ...Object.values(writerTables)]) {
    const properties = Object.fromEntries(Object.entries(columns).map(([column, type]) => [column, { type }]))
    const body = { name, schema: { type: 'object', properties }, ...others }
    const created = await sendJson('POST', `${apiUrl}/v1/tables`, body, headers)
    if (created.status !== 200) throw new Error(`A table was not created: ${JSON.stringify(created.body)}`)
  }
}

export function openWriter(name: string): Writer {
  return { name, files: new Map(), stock: new Map(), entries: new Map() }
}

/**
 * Writes one thing after another. Each request has an `Idempotency-Key` and is sent again, to any process, until it is
 * acknowledged; a content is sent to its address until that has it.
 *
 * @throws Error when a request is refused for good
 */
export async function keepWriting(writer: Writer, options: WriterOptions, counts: DataCounts): Promise<void> {
  const { chances, pauseMilliseconds } = options
  for (let step = 1; !options.isOver(); step += 1) {
    await pause(chances.between(0, 2 * pauseMilliseconds))
    const act = chances.pick([upload, upload, upload, upsert, upsert, create, update, remove])
    await act(writer, step, options, counts)
  }
}

async function upload(writer: Writer, step: number, options: WriterOptions, counts: DataCounts): Promise<void> {
  const { chances } = options
  const isIndexed = chances.between(0, 1) < 0.4
  const mark = `${writer.name}mark${step}`
  const key = `${writer.name}/${Math.floor(chances.between(0, filesOfWriter))}.${isIndexed ? 'md' : 'bin'}`
  const content = isIndexed
    ? Buffer.from(`# Step ${step}\n\n${`The writer has written ${mark} here.\n\n`.repeat(1 + (step % 50))}`)
    : Buffer.alloc(Math.floor(chances.between(0, maxRandomBytes)), `${mark} `)
  const { file } = await ask(options, counts, {
    method: 'PUT',
    path: '/v1/files',
    body: { key, size: content.length, index: isIndexed },
    idempotencyKey: `${writer.name}-${step}`,
  })
  await send(options, counts, new URL(file.uploadUrl).pathname, content)
  writer.files.set(key, { sha256: createHash('sha256').update(content).digest('hex'), isIndexed, mark })
  counts.uploads += 1
  counts.uploadedBytes += content.length
}

/** An address that is used up has the content: only this writer upserts the file. */
async function send(options: WriterOptions, counts: DataCounts, path: string, content: Buffer<ArrayBuffer>) {
  for (;;) {
    const { status, text } = await request(`${options.chances.pick(options.apiUrls)}${path}`, {
      method: 'PUT',
      body: content,
    })
    if (status === 200) return
    if (status === 409) return void counts.found++
    await afterRefusal(options, counts, status, text)
  }
}

async function upsert(writer: Writer, step: number, options: WriterOptions, counts: DataCounts): Promise<void> {
  const own = options.chances.shuffle(Array.from({ length: itemsOfWriter }, (_, index) => `${writer.name} ${index}`))
  const items = [...own.slice(0, 3), options.chances.pick(sharedItems)]
  const rows = items.map((item) => ({ item, number: step }))
  await write(writer, step, options, counts, `/v1/tables/${writerTables.stock.name}/rows/upsert`, {
    rows,
    keyColumn: 'item',
  })
  for (const item of items) if (!sharedItems.includes(item)) writer.stock.set(item, step)
}

async function create(writer: Writer, step: number, options: WriterOptions, counts: DataCounts): Promise<void> {
  const rows = Array.from({ length: 1 + (step % 20) }, (_, index) => ({
    writer: writer.name,
    number: step + index / 100,
  }))
  const path = `/v1/tables/${writerTables.entries.name}/rows`
  const created = await write(writer, step, options, counts, path, { rows })
  for (const { id, number } of created.rows) writer.entries.set(id, number)
}

async function update(writer: Writer, step: number, options: WriterOptions, counts: DataCounts): Promise<void> {
  const ids = options.chances.shuffle([...writer.entries.keys()]).slice(0, 5)
  if (ids.length === 0) return
  const rows = ids.map((id) => ({ id, number: step }))
  await write(writer, step, options, counts, `/v1/tables/${writerTables.entries.name}/rows`, { rows }, 'PUT')
  for (const id of ids) writer.entries.set(id, step)
}

async function remove(writer: Writer, step: number, options: WriterOptions, counts: DataCounts): Promise<void> {
  const ids = options.chances.shuffle([...writer.entries.keys()]).slice(0, 5)
  if (ids.length === 0) return
  const path = `/v1/tables/${writerTables.entries.name}/rows/delete`
  const { deletedRows } = await write(writer, step, options, counts, path, { ids })
  if (deletedRows !== ids.length) throw new Error(`${ids.length} rows were there, and ${deletedRows} were deleted`)
  for (const id of ids) writer.entries.delete(id)
}

async function write(
  { name }: Writer,
  step: number,
  options: WriterOptions,
  counts: DataCounts,
  path: string,
  body: object,
  method = 'POST',
): Promise<Answer> {
  const answer = await ask(options, counts, { method, path, body, idempotencyKey: `${name}-${step}` })
  if (answer.errors?.length) throw new Error(`A row was refused: ${answer.errors[0]}`)
  counts.writes += 1
  return answer
}

// The fields of an answer depend on the request.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any

async function ask(
  options: WriterOptions,
  counts: DataCounts,
  { method, path, body, idempotencyKey }: { method: string; path: string; body: object; idempotencyKey: string },
): Promise<Answer> {
  for (;;) {
    const { status, text } = await request(`${options.chances.pick(options.apiUrls)}${path}`, {
      method,
      headers: { ...options.headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(body),
    })
    if (status === 200) return JSON.parse(text)
    await afterRefusal(options, counts, status, text)
  }
}

async function afterRefusal({ chances }: WriterOptions, { refusals }: DataCounts, status: number, text: string) {
  refusals.set(status, (refusals.get(status) ?? 0) + 1)
  if (!mayPass.has(status)) throw new Error(`A write was refused with ${status}: ${text}`)
  await pause(chances.between(0, 2 * retryMilliseconds))
}

async function request(url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(answerMilliseconds) })
    return { status: response.status, text: await response.text() }
  } catch {
    return { status: 0, text: '' }
  }
}
