import type { TagCondition } from '../models/tag-filter.ts'
import type { FileRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { hasTrigrams } from './extensions.ts'
import { botTerm, foldText } from './passages.ts'
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
/** The first lists of candidates are by words, the next one by vectors. */
const wordLists = 2
/** Words that are looked for by their trigrams, when no passage has them. */
const maxUnknownWords = 5

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
): Promise<FoundPassage[]> {
  const [{ lists, share }, similar] = await Promise.all([searchWords(db, scope, search), nearest])
  return fuse([...lists, similar], [share, 1 - share, 1]).slice(0, search.limit)
}

async function searchWords(db: Database, scope: Scope, search: Search) {
  const words = await findWords(db, scope, search.query)
  const known = words.filter(({ passages }) => passages > 0)
  const unknown = words.filter(({ passages, term }) => passages === 0 && term.length >= 4).slice(0, maxUnknownWords)
  const lists = await Promise.all([
    known.length === 0 ? [] : byWords(db, scope, search, known),
    unknown.length === 0 || !(await hasTrigrams(db)) ? [] : byTrigrams(db, scope, search, unknown),
  ])
  return { lists, share: weightOf(known) / (weightOf(words) || 1) }
}

/** A word of a question, as the index has it, and how many passages of the bot have it. */
interface Word {
  term: string
  passages: number
  weight: number
}

/** The words of a question. A word in fewer passages says more about what is asked. */
async function findWords(db: Database, { botId }: Scope, text: string): Promise<Word[]> {
  const rows = await query<{ term: string; passages: string; all_passages: string }>(
    db,
    `select term, (
       select count(*) from passages
       where terms @@ (quote_literal(:botTerm::text) || ' & ' || quote_literal(term))::tsquery
     ) as passages, (select count(*) from passages where bot_id = :botId) as all_passages
     from unnest(tsvector_to_array(to_tsvector('english', :text))) as term limit 64`,
    { text: foldText(text), botId, botTerm: botTerm(botId) },
  )
  return rows.map(({ term, passages, all_passages: all }) => ({
    term,
    passages: Number(passages),
    weight: Math.log(1 + (Number(all) + 1) / (Number(passages) + 0.5)),
  }))
}

function weightOf(words: Word[]): number {
  return words.reduce((sum, { weight }) => sum + weight, 0)
}

/**
 * By the words that passages contain. The score is the share of the question's weight that a passage has. The passages with
 * the largest shares are ordered by BM25, in which words of headings count once more (docs/decisions/0045).
 */
async function byWords(db: Database, scope: Scope, { tags }: Search, words: Word[]): Promise<FoundPassage[]> {
  const all = weightOf(words)
  const any = words.map(({ term }) => quoteTerm(term)).join(' | ')
  const share = words.map(() => `case when passages.terms @@ ?::tsquery then ?::float8 else 0 end`).join(' + ')
  const shared = readablePassages(db, scope, tags)
    .whereRaw('passages.terms @@ ?::tsquery', [`${quoteTerm(botTerm(scope.botId))} & (${any})`])
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
    .from(db.raw(measured))
    .select(db.raw(`${passageColumns}, score`))
    .orderByRaw(`${relevance} desc, id`, {
      terms: words.map(({ term }) => term),
      weights: words.map(({ weight }) => weight / all),
    })
    .limit(candidates)
}

/** Headings are the first lines of the folded text. */
const measured = `(
  select *, avg(words) over () as mean_words, tsvector_to_array(to_tsvector('english', array_to_string(
    (string_to_array(folded, e'\\n'))[1 : cardinality(breadcrumb)], ' '))) as heading_terms
  from shared) as passages`

/** BM25 with its usual constants, over the mean length of the passages that are ordered. */
const relevance = `(
  select sum(weight * (coalesce(2.2 * frequency / (frequency + 1.2 * (0.25 + 0.75 * words / mean_words)), 0)
    + case when term = any(heading_terms) then 0.4 else 0 end))
  from unnest(:terms::text[], :weights::float8[]) as asked (term, weight)
  left join (select lexeme, cardinality(positions) as frequency from unnest(passages.terms)) as contained on lexeme = term)`

/** By words that are written alike: misspelt ones, and parts of compounds. */
async function byTrigrams(db: Database, scope: Scope, { tags }: Search, words: Word[]): Promise<FoundPassage[]> {
  const score = words.map(() => 'word_similarity(?, passages.folded)').join(' + ')
  const alike = words.map(() => `? <% passages.folded`).join(' or ')
  const terms = words.map(({ term }) => term)
  return readablePassages(db, scope, tags)
    .whereRaw(`(${alike})`, terms)
    .select(db.raw(passageColumns), db.raw(`(${score}) / ? as score`, [...terms, terms.length]))
    .orderByRaw('score desc, passages.id')
    .limit(candidates)
}

/** A term in the text form of a query. */
function quoteTerm(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

/** Joins ranked lists by reciprocal ranks. A list whose words weigh less in the question counts less. */
function fuse(lists: FoundPassage[][], shares: number[]): FoundPassage[] {
  const found = new Map<string, { passage: FoundPassage; rank: number; score: number }>()
  for (const [list, passages] of lists.entries()) {
    const share = shares[list]!
    for (const [index, passage] of passages.entries()) {
      const entry = found.get(passage.id) ?? { passage, rank: 0, score: 0 }
      entry.rank += share / (fusionConstant + index + 1)
      // The similarity of vectors is a score of its own; those by words are of different words.
      entry.score = list < wordLists ? entry.score + share * passage.score : Math.max(entry.score, passage.score)
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
