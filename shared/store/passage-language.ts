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
 * The language of a file, as the name of a configuration of PostgreSQL's text search.
 *
 * @param passages the first ones of the file
 * @returns null for English, and where the language is unknown to this server or to us
 */
export async function languageOf(db: Database, passages: NewPassage[]): Promise<string | null> {
  const configuration = configurations.get(await recognize(passages))
  if (configuration === undefined) return null
  const known = await query(
    db,
    'select from pg_ts_config where cfgname = :configuration and pg_ts_config_is_visible(oid)',
    {
      configuration,
    },
  )
  return known.length > 0 ? configuration : null
}

async function recognize(passages: NewPassage[]): Promise<string> {
  let text = ''
  for (const passage of passages) {
    if (text.length >= most) break
    if (!unspoken.has(passage.subtype)) text += `${passage.text.slice(0, most).replaceAll(/\P{L}+/gu, ' ')} `
  }
  if (text.length < fewest) return 'und'
  // Its data is not needed by processes that index nothing.
  const { franc } = await import('franc')
  return franc(text.slice(0, most), { only: [...configurations.keys(), ...others] })
}
