import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { misused } from '../failure.ts'
import { localTime, table as asTable } from '../output.ts'

type Table = AnswerOf<'listTables'>['tables'][number]
type TableWithCounts = AnswerOf<'getTable'>
type FoundRows = AnswerOf<'findTableRows'>

const path = '/v1/tables'

export async function listTables({ list }: Connection, botId: string): Promise<Table[]> {
  return Array.fromAsync(list<Table>(path, 'tables', { botId }))
}

/** @throws Failure when the bot has no such table */
export async function getTable({ ask }: Connection, botId: string, name: string): Promise<TableWithCounts> {
  return ask<'getTable'>('GET', pathOf(name), { botId })
}

export async function createTable({ ask }: Connection, botId: string, body: Record<string, unknown>): Promise<Table> {
  return (await ask<'createTable'>('POST', path, { body, botId })).table
}

export async function deleteTable({ ask }: Connection, botId: string, id: string): Promise<void> {
  await ask('DELETE', pathOf(id), { botId })
}

export async function findRows(
  { ask }: Connection,
  botId: string,
  name: string,
  body: Record<string, unknown>,
): Promise<FoundRows> {
  return ask<'findTableRows'>('POST', `${pathOf(name)}/rows/find`, { body, botId })
}

function pathOf(name: string): string {
  return `${path}/${encodeURIComponent(name)}`
}

/** @throws Failure when it is no number */
export function readFactor(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw misused(`--factor takes a number from 1 to 30, not "${text}"`)
}

/** A table with its columns, one on a line. */
export function formatTable({ table, rows, stale }: TableWithCounts): string {
  const { name, id, keyColumn, factor, frozen, createdAt, schema } = table
  const required = new Set(schema.required)
  const columns = Object.entries(schema.properties as Record<string, Record<string, unknown>>)
  const facts = [
    `${rows} rows${stale > 0 ? `, ${stale} with values that are out of date` : ''}`,
    ...(keyColumn === null ? [] : [`key column ${keyColumn}`]),
    ...(factor > 1 ? [`factor ${factor}`] : []),
    ...(frozen ? ['frozen'] : []),
    `created ${localTime(createdAt)}`,
  ]
  const lines = columns.map(([column, { type, format }]) => [
    column,
    [type, format].filter((part) => typeof part === 'string').join(', '),
    required.has(column) ? 'required' : '',
  ])
  return `${name} (${id}): ${facts.join(', ')}\n\n${asTable(['COLUMN', 'TYPE', ''], lines)}`
}

/** Longer values make the table of a terminal unreadable. */
const maxCell = 40

/** Rows, or groups, as a table; columns in the order of the table's own. */
export function formatRows({ rows, hasMore, offset }: FoundRows, columns: readonly string[]): string {
  if (rows.length === 0) return 'No such rows'
  const fields = new Set(rows.flatMap((row) => Object.keys(row)))
  const known = ['id', ...columns].filter((field) => fields.has(field))
  const isRow = fields.has('id')
  const others = [...fields].filter((field) => !known.includes(field) && (!isRow || field === 'similarity'))
  const titles = [...known, ...others]
  const cells = rows.map((row) => titles.map((title) => toCell((row as Record<string, unknown>)[title])))
  const rest = hasMore ? `\n\nThere are further rows: --offset ${offset + rows.length}` : ''
  return `${asTable(titles, cells)}${rest}`
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/\s+/g, ' ')
  return text.length > maxCell ? `${text.slice(0, maxCell - 1)}…` : text
}
