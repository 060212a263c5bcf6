import { ApiError } from '../errors.ts'
import type { TagCondition } from '../models/tag-filter.ts'
import type { FileRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { readPage } from './page-bytes.ts'
import type { Page } from './pagination.ts'
import { fileBindings, isReadable } from './runtime-files.ts'
import type { Scope } from './scope.ts'
import { whereTagConditions } from './tag-conditions.ts'

/** The order of a list of files: the field's SQL and its type. Ties are broken by the id. */
const sortColumns = {
  key: { sql: 'files.key', type: 'text' },
  size: { sql: 'coalesce(files.size, -1)', type: 'bigint' },
  status: { sql: 'files.status', type: 'text' },
  createdAt: { sql: 'files.created_at', type: 'timestamptz' },
  updatedAt: { sql: 'files.updated_at', type: 'timestamptz' },
} as const

export type FileSortField = keyof typeof sortColumns

export const fileSortFields = Object.keys(sortColumns) as FileSortField[]

export interface FileListRequest {
  limit: number
  nextToken?: string | undefined
  sortField: FileSortField
  ascending: boolean
}

export interface FileFilters {
  tags: TagCondition[]
  ids?: string[] | undefined
  /** Whether a search finds them now. */
  indexed?: boolean | undefined
}

/**
 * One page of the files that a caller may read.
 * @throws ApiError `InvalidQuery` when the token is not one of the platform's for this order
 */
export async function pageOfFiles(
  db: Database,
  scope: Scope,
  { tags, ids, indexed }: FileFilters,
  { limit, nextToken, sortField, ascending }: FileListRequest,
): Promise<Page<FileRow>> {
  const { sql, type } = sortColumns[sortField]
  const order = ascending ? 'asc' : 'desc'
  const read = db('files')
    .select('files.*', db.raw(`(${sql})::text as sorted_by, ${sql} as sort_value`))
    .whereRaw(isReadable, fileBindings(scope))
    .modify((list) => {
      whereTagConditions(list, 'files.tags', tags)
      if (ids && ids.length > 0) void list.whereIn('files.id', ids)
      if (indexed !== undefined) void list.whereRaw(`(files.status = 'indexing_completed') = ?`, [indexed])
      if (nextToken) {
        const [value, id] = unpack(nextToken, sortField)
        void list.whereRaw(`(${sql}, files.id) ${ascending ? '>' : '<'} (?::${type}, ?)`, [value, id])
      }
    })
    .orderByRaw(`${sql} ${order}, files.id ${order}`)
    .limit(limit + 1)
  type Read = FileRow & { sorted_by: string; sort_value: unknown }
  const rows = await readPage<Read>(db, read, ['listed.tags', 'listed.metadata'], { column: 'sort_value', ascending })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    rows: shown,
    ...(last && (rows.length > limit || last.is_followed) && { nextToken: pack([sortField, last.sorted_by, last.id]) }),
  }
}

/**
 * One page of the names of the tags of the files that a caller may read, in order.
 * @throws ApiError `InvalidQuery` when the token is not one of the platform's
 */
export async function pageOfFileTags(
  db: Database,
  scope: Scope,
  { limit, nextToken }: { limit: number; nextToken?: string | undefined },
): Promise<Page<string>> {
  const rows = await query<{ name: string }>(
    db,
    `select name from (
       select distinct tag collate "C" as name from files, jsonb_object_keys(tags) as tag where ${isReadable}
     ) names where name > :after or :isFirst order by name limit :limit`,
    { ...fileBindings(scope), ...textPlace(nextToken, 'tag'), limit: limit + 1 },
  )
  return toTextPage(rows, limit, 'tag')
}

/**
 * One page of the values of a tag, in order.
 * @throws ApiError as `pageOfFileTags`
 */
export async function pageOfFileTagValues(
  db: Database,
  scope: Scope,
  tag: string,
  { limit, nextToken }: { limit: number; nextToken?: string | undefined },
): Promise<Page<string>> {
  const rows = await query<{ name: string }>(
    db,
    `select name from (
       select distinct (tags ->> :tag) collate "C" as name from files where ${isReadable} and jsonb_exists(tags, :tag)
     ) names where name > :after or :isFirst order by name limit :limit`,
    { ...fileBindings(scope), tag, ...textPlace(nextToken, 'value'), limit: limit + 1 },
  )
  return toTextPage(rows, limit, 'value')
}

/** Values may be empty, so the first page has no lower bound. */
function textPlace(nextToken: string | undefined, kind: string): { after: string; isFirst: boolean } {
  return nextToken ? { after: unpack(nextToken, kind)[0], isFirst: false } : { after: '', isFirst: true }
}

function toTextPage(fetched: { name: string }[], limit: number, kind: string): Page<string> {
  const rows = fetched.slice(0, limit).map(({ name }) => name)
  const last = rows.at(-1)
  return { rows, ...(last !== undefined && fetched.length > limit && { nextToken: pack([kind, last, '']) }) }
}

/** A token has what the list is ordered by, the value of the last row, and its id. */
function pack(token: [kind: string, value: string, id: string]): string {
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

function unpack(token: string, kind: string): [value: string, id: string] {
  const parts = parse(Buffer.from(token, 'base64url').toString())
  const [own, given, id] = Array.isArray(parts) ? (parts as unknown[]) : []
  const value = isStorable(given) ? ofKind(kind, given) : undefined
  if (own === kind && value !== undefined && isStorable(id)) return [value, id]
  throw new ApiError('InvalidQuery', 'nextToken is not a valid cursor of this list: omit it to start at the first page')
}

function isStorable(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

/** The value in a form that PostgreSQL reads as the type of the column; undefined if it is none. */
function ofKind(kind: string, value: string): string | undefined {
  if (kind === 'size') return /^-?\d{1,18}$/.test(value) ? value : undefined
  return kind === 'createdAt' || kind === 'updatedAt' ? timeOf(value) : value
}

const firstTime = Date.parse('0001-01-01T00:00:00Z')
const lastTime = Date.parse('9999-12-31T23:59:59.999Z')

/** A time as PostgreSQL writes it, in ISO 8601. */
function timeOf(text: string): string | undefined {
  const [, date, time, hours, minutes = '00'] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,3})?)([+-]\d\d)(?::(\d\d))?$/.exec(text) ?? []
  const at = Date.parse(`${date}T${time}${hours}:${minutes}`)
  return at >= firstTime && at <= lastTime ? new Date(at).toISOString() : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
