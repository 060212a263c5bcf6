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
 * A text as words with spaces or ASCII between them, in small letters. The words of PostgreSQL depend on the locale of the
 * database: in the locale C, all other characters are letters, so that a word would include the quotation mark beside it.
 */
function separateWords(text: string): string {
  return text
    .replace(unspaced, (run) => ` ${wordsOf(run).join(' ')} `)
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[^\p{ASCII}\p{L}\p{N}\p{M}]/gu, ' ')
    .toLowerCase()
}

function withoutMarks(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '')
}

/** A text as searches compare it: as words, without accents. */
export function foldText(text: string): string {
  return withoutMarks(separateWords(text))
}

function wordsOf(run: string): string[] {
  const segments = [...segmenter.segment(run.normalize('NFKC'))]
  return segments.filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment)
}

/** Letters with accents, and the same ones without. */
const [accented, bare] = accents()

function accents(): [accented: string, bare: string] {
  const letters = Array.from({ length: 0x2000 }, (_, code) => String.fromCodePoint(code)).filter((letter) => {
    const plain = withoutMarks(letter)
    return /\p{Ll}/u.test(letter) && plain.length === 1 && plain !== letter
  })
  return [letters.join(''), letters.map(withoutMarks).join('')]
}

/** A text whose terms the functions below make: the endings of a language have accents. */
export function textInLanguage(text: string, language: string | null): string {
  return language === null ? foldText(text) : separateWords(text)
}

/** An expression, with what it names. */
interface Expression {
  sql: string
  bindings: Record<string, string>
}

function bindingsOf(language: string): Record<string, string> {
  return { language: `pg_catalog.${language}`, accented, bare }
}

const folded = (text: string) => `translate(${text}, :accented, :bare)`

/**
 * The terms of a question, as an array: words in a form that is common to all their forms. A language finds that by the accents of
 * their endings; the form itself has none. Words that say little are left out, with or without their accents.
 *
 * @param text an expression, of a text `textInLanguage`
 */
export function termsOfQuestion(language: string | null, text: string): Expression {
  if (language === null) return { sql: `tsvector_to_array(to_tsvector('english', ${text}))`, bindings: {} }
  const sql = `(
    select array_agg(distinct ${folded('lexeme')})
    from ts_debug(:language::regconfig, ${text}) as word, unnest(word.lexemes) as lexeme
    where to_tsvector(:language::regconfig, ${folded('word.token')}) <> '')`
  return { sql, bindings: bindingsOf(language) }
}

/** The terms of a passage: those that a question has with all accents, and those that it has without. */
function termsOfPassage(language: string | null): Expression {
  if (language === null) return { sql: `to_tsvector('english', folded)`, bindings: {} }
  const terms = `${folded(`to_tsvector(:language::regconfig, separated)::text`)}::tsvector`
  const more = `ts_delete(to_tsvector(:language::regconfig, folded), tsvector_to_array(${terms}))`
  return { sql: `${terms} || ${more}`, bindings: bindingsOf(language) }
}

/** The term in the index of each passage of a bot. No word of a text begins so. */
export function botTerm(botId: string): string {
  return `=${botId}`
}

/** Longer words are no words. PostgreSQL refuses terms of 2 KB. */
const longWord = /\S{200,}/g

/** Passages whose texts are folded before other work of the process has its turn. */
const foldedAtOnce = 10

interface PassagePlace {
  fileId: string
  botId: string
  generation: number
  first: number
  language: string | null
}

/**
 * Stores passages of a file.
 *
 * @param file `first`: the position of the first of them; `language` as from `languageOf`
 */
export async function insertPassages(
  transaction: Database,
  { fileId, botId, generation, first, language }: PassagePlace,
  passages: NewPassage[],
): Promise<void> {
  const rows: object[] = []
  for (const [index, { subtype, text, breadcrumb, pageNumber }] of passages.entries()) {
    // The words of a passage in Chinese take a millisecond.
    if (index % foldedAtOnce === foldedAtOnce - 1) await setImmediate()
    const whole = [...breadcrumb, text].join('\n')
    const separated = textInLanguage(whole, language).replace(longWord, ' ')
    rows.push({
      position: first + index,
      subtype,
      breadcrumb,
      page: pageNumber ?? null,
      text,
      bytes: Buffer.byteLength(text),
      separated,
      folded: withoutMarks(separated),
    })
  }
  const { sql, bindings } = termsOfPassage(language)
  await query(
    transaction,
    `insert into passages (file_id, bot_id, generation, language, position, subtype, breadcrumb, page, text, bytes, folded, terms)
     select :fileId, :botId, :generation, :stored::text, position, subtype, array(select jsonb_array_elements_text(breadcrumb)), page, text,
       bytes, folded, ${sql} || array_to_tsvector(array[:botTerm])
     from jsonb_to_recordset(:rows::jsonb) as given (position integer, subtype text, breadcrumb jsonb, page integer,
       text text, bytes integer, separated text, folded text)`,
    { fileId, botId, generation, stored: language, botTerm: botTerm(botId), rows: JSON.stringify(rows), ...bindings },
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
