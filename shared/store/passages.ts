import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../errors.ts'
import type { PassageRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import type { Page } from './pagination.ts'

/** A passage of a document that is indexed. */
export interface NewPassage {
  subtype: string
  text: string
  breadcrumb: string[]
  pageNumber?: number
}

/** Scripts that are written without spaces between words, with the marks that belong to them. */
const unspaced = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu

const segmenter = new Intl.Segmenter('en', { granularity: 'word' })

/**
 * A text as searches compare it: without accents, and as words with spaces or ASCII between them. The words of PostgreSQL
 * depend on the locale of the database: in the locale C, all other characters are letters, so that a word would include
 * the quotation mark beside it.
 */
export function foldText(text: string): string {
  return text
    .replace(unspaced, (run) => ` ${wordsOf(run).join(' ')} `)
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/[^\p{ASCII}\p{L}\p{N}]/gu, ' ')
    .toLowerCase()
}

function wordsOf(run: string): string[] {
  const segments = [...segmenter.segment(run.normalize('NFKC'))]
  return segments.filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment)
}

/** The term in the index of each passage of a bot. No word of a text begins so. */
export function botTerm(botId: string): string {
  return `=${botId}`
}

/** Longer words are no words. PostgreSQL refuses terms of 2 KB. */
const longWord = /\S{200,}/g

/** Passages whose texts are folded before other work of the process has its turn. */
const foldedAtOnce = 10

/**
 * Stores passages of a file.
 *
 * @param file `first`: the position of the first of them
 */
export async function insertPassages(
  transaction: Database,
  { fileId, botId, generation, first }: { fileId: string; botId: string; generation: number; first: number },
  passages: NewPassage[],
): Promise<void> {
  const rows: object[] = []
  for (const [index, { subtype, text, breadcrumb, pageNumber }] of passages.entries()) {
    // The words of a passage in Chinese take a millisecond.
    if (index % foldedAtOnce === foldedAtOnce - 1) await setImmediate()
    rows.push({
      position: first + index,
      subtype,
      breadcrumb,
      page: pageNumber ?? null,
      text,
      bytes: Buffer.byteLength(text),
      folded: foldText([...breadcrumb, text].join('\n')).replace(longWord, ' '),
    })
  }
  await query(
    transaction,
    `insert into passages (file_id, bot_id, generation, position, subtype, breadcrumb, page, text, bytes, folded, terms)
     select :fileId, :botId, :generation, position, subtype, array(select jsonb_array_elements_text(breadcrumb)), page, text,
       bytes, folded, to_tsvector('english', folded) || array_to_tsvector(array[:botTerm])
     from jsonb_to_recordset(:rows::jsonb) as given (position integer, subtype text, breadcrumb jsonb, page integer,
       text text, bytes integer, folded text)`,
    { fileId, botId, generation, botTerm: botTerm(botId), rows: JSON.stringify(rows) },
  )
}

/** One page of the passages of a file, in document order. */
export async function pageOfPassages(
  db: Database,
  fileId: string,
  { limit, nextToken }: { limit: number; nextToken?: string | undefined },
): Promise<Page<PassageRow>> {
  const rows = await query<PassageRow>(
    db,
    `select passages.id, file_id, position, subtype, breadcrumb, page, text
     from passages join files on files.id = file_id and passages.generation = index_generation
     where file_id = :fileId and position > :after order by position limit :limit`,
    { fileId, after: nextToken === undefined ? -1 : decodeCursor(nextToken), limit: limit + 1 },
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { rows: shown, ...(last && rows.length > limit && { nextToken: encodeCursor(last.position) }) }
}

/** Passages of files between positions, in document order. */
export async function passagesBetween(
  db: Database,
  ranges: { fileId: string; from: number; to: number }[],
): Promise<PassageRow[]> {
  if (ranges.length === 0) return []
  return query<PassageRow>(
    db,
    `select distinct passages.id, passages.file_id, position, subtype, breadcrumb, page, text
     from jsonb_to_recordset(:ranges::jsonb) as ranges ("fileId" text, "from" integer, "to" integer)
     join files on files.id = "fileId"
     join passages on passages.file_id = files.id and passages.generation = index_generation
       and position between "from" and "to"
     order by passages.file_id, position`,
    { ranges: JSON.stringify(ranges) },
  )
}

/** The token of the next page of a file's passages: the position of the last one. */
function encodeCursor(position: number): string {
  return Buffer.from(`p${position}`).toString('base64url')
}

/** @throws ApiError `InvalidQuery` when the token is not one of the platform's */
function decodeCursor(token: string): number {
  const [, digits] = /^p(\d{1,9})$/.exec(Buffer.from(token, 'base64url').toString()) ?? []
  if (digits === undefined) throw new ApiError('InvalidQuery', 'nextToken is not a token of this list')
  return Number(digits)
}
