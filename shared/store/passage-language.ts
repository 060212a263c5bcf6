import { query, type Database } from './database.ts'
import type { NewPassage } from './passages.ts'

/**
 * Configurations of PostgreSQL's text search, by the languages (ISO 639-3) whose words they bring to a common form. English
 * is not among them: it is the one of passages without a language.
 */
const configurations = new Map<string, string>(
  Object.entries({
    arb: 'arabic',
    cat: 'catalan',
    dan: 'danish',
    deu: 'german',
    ell: 'greek',
    eus: 'basque',
    fin: 'finnish',
    fra: 'french',
    hin: 'hindi',
    hun: 'hungarian',
    hye: 'armenian',
    ind: 'indonesian',
    ita: 'italian',
    lit: 'lithuanian',
    nld: 'dutch',
    nno: 'norwegian',
    nob: 'norwegian',
    por: 'portuguese',
    ron: 'romanian',
    rus: 'russian',
    spa: 'spanish',
    swe: 'swedish',
    tam: 'tamil',
    tur: 'turkish',
  }),
)

/**
 * English, and languages without a configuration that would be taken for others. Those that are hard to tell from one with a
 * configuration are not among them: Bulgarian counts as Russian, and Galician as Spanish or Portuguese, which keeps their words
 * comparable.
 */
const others = ['eng', 'ces', 'hrv', 'pes', 'pol', 'slk', 'slv', 'ukr', 'urd', 'vie']

/** Letters that are enough to recognize a language, and that are looked at. */
const [fewest, most] = [100, 2000]

/** Kinds of passages with little of a language in them. */
const unspoken = new Set(['code', 'table'])

/**
 * The least share of small words in a text of a language. Common languages have a third to a half of them; lists of names or codes,
 * and logs, have few of any language.
 */
const fewSmallWords = 0.1

/**
 * The language of a file, as the name of a configuration of PostgreSQL's text search.
 *
 * @param passages the first ones of the file
 * @returns null for English, and where the language is unknown to this server or to us
 */
export async function languageOf(db: Database, passages: NewPassage[]): Promise<string | null> {
  const text = beginningOf(passages)
  const configuration = text.length < fewest ? undefined : configurations.get(await recognize(text))
  if (configuration === undefined) return null
  const words = text.normalize('NFC').toLowerCase().split(' ')
  const [known] = await query<{ small: number | null }>(
    db,
    `select case when dictinitoption like '%stopwords%' then
       (select avg((ts_lexize(dictionary.oid::regdictionary, word) = '{}')::integer)::float8 from unnest(:words::text[]) as word)
     end as small
     from pg_ts_config configuration
     join pg_ts_dict dictionary on dictname = cfgname || '_stem' and dictnamespace = cfgnamespace
     where cfgname = :configuration and cfgnamespace = 'pg_catalog'::regnamespace`,
    { configuration, words },
  )
  // Some dictionaries know no small words.
  return known === undefined || (known.small ?? 1) < fewSmallWords ? null : configuration
}

/** The words at the beginning of a file, with single spaces between them. */
function beginningOf(passages: NewPassage[]): string {
  let text = ''
  for (const { subtype, text: more } of passages) {
    if (text.length >= most) break
    if (!unspoken.has(subtype)) text += `${more.slice(0, most)} `
  }
  return text
    .replaceAll(/[^\p{L}\p{M}]+/gu, ' ')
    .slice(0, most)
    .trim()
}

async function recognize(text: string): Promise<string> {
  // Its data is not needed by processes that index nothing.
  const { franc } = await import('franc')
  return franc(text, { only: [...configurations.keys(), ...others] })
}
