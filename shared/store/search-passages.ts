import type { Knex } from 'knex'
import type { TagCondition } from '../models/tag-filter.ts'
import type { FileRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { hasTrigrams } from './extensions.ts'
import { botTerm, termsOfQuestion, textInLanguage } from './passages.ts'
import { fileBindings, isReadable } from './runtime-files.ts'
import { whereTagConditions } from './tag-conditions.ts'
import { withinTime } from './within-time.ts'
import { candidates, passageColumns, readablePassages, type FoundPassage } from './readable-passages.ts'
import type { Scope } from './scope.ts'

interface Search {
  query: string
  tags: TagCondition[]
  limit: number
}

/** Passages that share the most words with a question, which are ordered by their relevance. */
const ordered = 200
/** In Σ 1/(k + rank): the usual constant of reciprocal rank fusion. */
const fusionConstant = 60
/** Languages in which passages are looked for: those in which they have the most of a question. */
const maxLanguages = 4
/** Words that are looked for by their trigrams, when no passage has them. */
const maxUnknownWords = 5
/** Upper bounds of the passages that are compared with a question, so that its time does not grow with the bot's passages. */
const usualBounds = {
  /** Passages with its rarer words: all of them are compared. */
  rare: 10_000,
  /** Passages with its other words, of each kind. */
  frequent: 2000,
}
/** Passages with words that are written alike, which are compared; and the time in which they are found. */
const [maxAlike, trigramMilliseconds] = [1000, 1500]
/** Passages of a bot by which the number of those with a frequent word is estimated. */
const sampled = 1000

/**
 * Finds the passages that match a question best, of the files that the caller may read. A way to search that is absent
 * here (trigrams, vectors) is left out.
 *
 * @param nearest the passages whose vectors are most similar to that of the question, best first
 */
export async function searchPassages(
  db: Database,
  scope: Scope,
  search: Search,
  nearest: Promise<FoundPassage[]> | FoundPassage[] = [],
  bounds = usualBounds,
): Promise<FoundPassage[]> {
  const [byWord, similar] = await Promise.all([searchWords(db, scope, search, bounds), nearest])
  return fuse([...byWord, { passages: similar, weight: 1, isOfVectors: true }]).slice(0, search.limit)
}

/** Passages that one way to search has found, best first. */
interface Found {
  passages: FoundPassage[]
  /** From 0 to 1: how much of the question it stands for. */
  weight: number
  isOfVectors?: true
}

/**
 * Compares a question in each language of the bot's files. In another language than its own, passages have few of its words, and
 * the list little weight.
 */
async function searchWords(db: Database, scope: Scope, search: Search, bounds: typeof usualBounds): Promise<Found[]> {
  const languages = await query<{ language: string | null; passages: number }>(
    db,
    `select language, count(*)::integer as passages from passages where bot_id = :botId
     group by language order by passages desc, language`,
    { botId: scope.botId },
  )
  const compared: { language: string | null; words: Word[]; known: Word[]; weight: number }[] = []
  // One after the other: a request takes few connections, and most bots have one language.
  for (const language of languages) {
    const words = await findWords(db, scope, search.query, language, bounds.rare)
    const known = words.filter(({ passages }) => passages > 0)
    compared.push({ ...language, words, known, weight: weightOf(known) / (weightOf(words) || 1) })
  }
  const byWeight = compared.toSorted((one, other) => other.weight - one.weight)
  const best = byWeight[0]
  if (best === undefined) return []
  const unknown = best.words
    .filter(({ passages, term }) => passages === 0 && term.length >= 4)
    .slice(0, maxUnknownWords)
  return Promise.all([
    ...byWeight
      .slice(0, maxLanguages)
      .filter(({ known }) => known.length > 0)
      .map(async ({ language, known, weight }) => ({
        passages: await byWords(db, scope, search, { language, words: known }, bounds),
        weight,
      })),
    ...(unknown.length > 0 && (await hasTrigrams(db))
      ? [byTrigrams(db, scope, search, unknown).then((passages) => ({ passages, weight: 1 - best.weight }))]
      : []),
  ])
}

/** A word of a question, as the index has it, and how many passages of the bot have it. */
interface Word {
  term: string
  passages: number
  weight: number
}

/**
 * The words of a question. A word in fewer passages says more about what is asked. The passages with a frequent word are not
 * counted, which would read all of them: their number is that of a sample, in proportion.
 */
async function findWords(
  db: Database,
  { botId }: Scope,
  text: string,
  { language, passages: all }: { language: string | null; passages: number },
  most: number,
): Promise<Word[]> {
  const { sql, bindings } = termsOfQuestion(language, ':text')
  const counted = await query<{ term: string; passages: number }>(
    db,
    `select term, (
       select count(*)::integer from (
         select from passages
         where terms @@ (quote_literal(:botTerm::text) || ' & ' || quote_literal(term))::tsquery and ${isIn(language)} limit :most
       ) having_it
     ) as passages
     from unnest(${sql}) as term limit 64`,
    { text: textInLanguage(text, language), botTerm: botTerm(botId), most: most + 1, ...bindings },
  )
  const frequent = counted.filter(({ passages }) => passages > most).map(({ term }) => term)
  const shares = frequent.length === 0 ? new Map<string, number>() : await sampleWords(db, botId, language, frequent)
  return counted.map(({ term, passages: least }) => {
    const passages = Math.max(least, Math.round(all * (shares.get(term) ?? 0)))
    return { term, passages, weight: Math.log(1 + (all + 1) / (passages + 0.5)) }
  })
}

/** A condition: PostgreSQL plans one on a parameter that may be null without the index. */
function isIn(language: string | null): string {
  return language === null ? 'language is null' : `language = '${language}'`
}

/** The shares of a bot's passages in a language that have words, by some of the passages. */
async function sampleWords(
  db: Database,
  botId: string,
  language: string | null,
  terms: string[],
): Promise<Map<string, number>> {
  const rows = await query<{ term: string; share: number }>(
    db,
    `select term, (count(*) filter (where sample.terms @@ quote_literal(term)::tsquery))::float8 / count(*) as share
     from (select terms from passages where bot_id = :botId and ${isIn(language)} limit ${sampled}) sample, unnest(:terms::text[]) term
     group by term`,
    { botId, terms },
  )
  return new Map(rows.map(({ term, share }) => [term, share]))
}

function weightOf(words: Word[]): number {
  return words.reduce((sum, { weight }) => sum + weight, 0)
}

/**
 * By the words that passages contain. The score is the share of the question's weight that a passage has. The passages with
 * the largest shares are ordered by BM25, in which words of headings count once more (docs/decisions/0045).
 */
async function byWords(
  db: Database,
  scope: Scope,
  { tags }: Search,
  { language, words }: { language: string | null; words: Word[] },
  bounds: typeof usualBounds,
): Promise<FoundPassage[]> {
  const all = weightOf(words)
  const share = words.map(() => `case when passages.terms @@ ?::tsquery then ?::float8 else 0 end`).join(' + ')
  const files = await fewFiles(db, scope, tags)
  const bot = quoteTerm(botTerm(scope.botId))
  const [first, ...others] = matchesOf(words, bounds).map(({ match, limit }) => {
    const haveWords = (passages: Knex.QueryBuilder) =>
      void passages.whereRaw(`passages.${isIn(language)} and passages.terms @@ ?::tsquery`, [`${bot} & (${match})`])
    return readablePassages(db, scope, tags, files ? [ofFiles(files), haveWords] : [haveWords]).modify(
      (passages) => void (limit !== undefined && passages.limit(limit)),
    )
  })
  const shared = (
    others.length === 0
      ? first!
      : db('passages').whereIn(
          'passages.id',
          db.union(
            [first!, ...others].map((some) => some.select('passages.id')),
            true,
          ),
        )
  )
    .select(
      db.raw(`${passageColumns}, passages.terms, passages.folded, length(passages.terms) as words`),
      db.raw(
        `${share} as score`,
        words.flatMap(({ term, weight }) => [quoteTerm(term), weight / all]),
      ),
    )
    .orderByRaw('score desc, words, passages.id')
    .limit(ordered)
  return db
    .with('shared', shared)
    .from(db.raw(measured, { language: `pg_catalog.${language ?? 'english'}` }))
    .select(db.raw(`${passageColumns}, score`))
    .orderByRaw(`${relevance} desc, id`, {
      terms: words.map(({ term }) => term),
      weights: words.map(({ weight }) => weight / all),
    })
    .limit(candidates)
}

/** Files of a search by tags whose passages are all compared: the index of words has those of all files. */
const maxFewFiles = 200

/** The files that a search by tags looks at, when they are few. */
async function fewFiles(db: Database, scope: Scope, tags: TagCondition[]): Promise<string[] | undefined> {
  if (tags.length === 0) return undefined
  const tagged = db('files')
    .modify((list) => whereTagConditions(list, 'files.tags', tags))
    .offset(db.raw('0') as unknown as number)
  const rows: { id: string }[] = await db
    .from(tagged.as('files'))
    .select('id')
    .whereRaw(isReadable, fileBindings(scope))
    .limit(maxFewFiles + 1)
  return rows.length > maxFewFiles ? undefined : rows.map(({ id }) => id)
}

function ofFiles(files: string[]) {
  return (passages: Knex.QueryBuilder) => void passages.whereRaw('file_id = any(?)', [files])
}

/**
 * The passages that are compared with a question, as queries of their words: all that have any of its rarer words and, of
 * those with frequent words alone, so many that have all of these, and so many that have the rarest of them.
 */
function matchesOf(words: Word[], bounds: typeof usualBounds): { match: string; limit?: number }[] {
  const byNumber = words.toSorted((a, b) => a.passages - b.passages)
  let sum = 0
  const rare = byNumber.filter(({ passages }) => (sum += passages) <= bounds.rare)
  const frequent = byNumber.slice(rare.length).map(({ term }) => quoteTerm(term))
  return [
    ...(rare.length > 0 ? [{ match: rare.map(({ term }) => quoteTerm(term)).join(' | ') }] : []),
    ...(frequent.length > 0 ? [{ match: frequent.join(' & '), limit: bounds.frequent }] : []),
    ...(frequent.length > 1 ? [{ match: frequent[0]!, limit: bounds.frequent }] : []),
  ]
}

/** Headings are the first lines of the folded text. */
const measured = `(
  select *, avg(words) over () as mean_words, tsvector_to_array(to_tsvector(:language::regconfig, array_to_string(
    (string_to_array(folded, e'\\n'))[1 : cardinality(breadcrumb)], ' '))) as heading_terms
  from shared) as passages`

/** BM25 with its usual constants, over the mean length of the passages that are ordered. */
const relevance = `(
  select sum(weight * (coalesce(2.2 * frequency / (frequency + 1.2 * (0.25 + 0.75 * words / mean_words)), 0)
    + case when term = any(heading_terms) then 0.4 else 0 end))
  from unnest(:terms::text[], :weights::float8[]) as asked (term, weight)
  left join (select lexeme, cardinality(positions) as frequency from unnest(passages.terms)) as contained on lexeme = term)`

/**
 * By words that are written alike: misspelt ones, and parts of compounds. To compare the texts takes long: so many that match
 * are compared, and none where they are not found in time.
 */
async function byTrigrams(db: Database, scope: Scope, { tags }: Search, words: Word[]): Promise<FoundPassage[]> {
  const terms = words.map(({ term }) => term)
  const score = words.map(() => 'word_similarity(?, passages.folded)').join(' + ')
  const alike = words.map(() => `? <% passages.folded`).join(' or ')
  const files = await fewFiles(db, scope, tags)
  const found = readablePassages(db, scope, tags, files && [ofFiles(files)])
    .whereRaw(`(${alike})`, terms)
    .select(db.raw(`${passageColumns}, passages.folded`))
    .limit(maxAlike)
  return withinTime(
    db,
    (transaction) =>
      transaction
        .from(found.as('passages'))
        .select(db.raw(passageColumns), db.raw(`(${score}) / ? as score`, [...terms, terms.length]))
        .orderByRaw('score desc, passages.id')
        .limit(candidates),
    { milliseconds: trigramMilliseconds, late: [] },
  )
}

/** A term in the text form of a query. */
function quoteTerm(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

/** Joins ranked lists by reciprocal ranks. A list whose words weigh less in the question counts less. */
function fuse(lists: Found[]): FoundPassage[] {
  const found = new Map<string, { passage: FoundPassage; rank: number; score: number }>()
  for (const { passages, weight, isOfVectors } of lists) {
    for (const [index, passage] of passages.entries()) {
      const entry = found.get(passage.id) ?? { passage, rank: 0, score: 0 }
      entry.rank += weight / (fusionConstant + index + 1)
      // The similarity of vectors is a score of its own; those by words are of different words.
      entry.score = isOfVectors ? Math.max(entry.score, passage.score) : entry.score + weight * passage.score
      found.set(passage.id, entry)
    }
  }
  const ordered = [...found.values()].toSorted((a, b) => b.rank - a.rank)
  let last = 1
  // A better rank never has a lower score than a worse one: bots compare scores with thresholds.
  return ordered.map(({ passage, score }) => ({ ...passage, score: (last = Math.min(last, score)) }))
}

/** The files of found passages. */
export async function filesOf(db: Database, ids: string[]): Promise<Map<string, FileRow>> {
  const rows = await query<FileRow>(db, 'select * from files where id = any(:ids)', { ids })
  return new Map(rows.map((row) => [row.id, row]))
}
