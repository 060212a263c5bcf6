/** By which a person is looked for. */
export interface Subject {
  /** Internal ids of users. */
  userIds?: string[] | undefined
  /** An id that a client chose for its user. */
  externalId?: string | undefined
  tag?: { key: string; value: string } | undefined
  emails?: string[] | undefined
  phones?: string[] | undefined
  /** Other texts that name the person, such as a customer number. */
  texts?: string[] | undefined
}

/** Regular expressions of PostgreSQL, compared without regard to case. Null: there is nothing to look for. */
export interface PersonTerms {
  /** A text that names the person matches it. It rules out most others at little cost. */
  loose: string
  /** The same, but not within a longer word, address or number; for texts in which `escapes` are spaces. */
  strict: string
  /** Values that consist of an identifier and nothing else. Null without identifiers. */
  whole: string | null
}

/** Shorter ids of clients are not looked for in texts: `7` is in all of them. */
export const minTermCharacters = 4

/** A regular expression of the escapes in the text of JSON, also of JSON within JSON. */
export const escapes = String.raw`\\+(u[0-9a-f]{4}|["/bfnrt])?`

/**
 * The expressions that find a person in texts. Identifiers are data: nothing in them has a meaning in an expression.
 *
 * @param ids internal and external ids of users
 */
export function personTerms(
  { emails = [], phones = [], texts = [] }: Subject,
  ids: readonly string[],
): PersonTerms | null {
  const identifiers = [
    ...emails.map((email) => ({ loose: emailPattern(email), before: String.raw`a-z0-9._%+-`, after: mailEnd })),
    ...phones.map((phone) => ({ loose: phonePattern(phone), before: '0-9', after: '(?![0-9])' })),
    ...texts.map(wordTerm),
  ]
  const terms = [...identifiers, ...ids.filter((id) => id.length >= minTermCharacters).map(wordTerm)]
  if (terms.length === 0) return null
  return {
    loose: terms.map(({ loose }) => loose).join('|'),
    strict: terms.map(({ loose, before, after }) => `(?<![${before}])(?:${loose})${after}`).join('|'),
    whole:
      identifiers.length === 0 ? null : String.raw`^\s*\+?(?:${identifiers.map(({ loose }) => loose).join('|')})\s*$`,
  }
}

/** The end of an address, which may also be that of a sentence. */
const mailEnd = String.raw`(?![a-z0-9_-]|\.[a-z0-9])`

function wordTerm(text: string) {
  const parts = text.trim().split(/["\\\s\p{Cc}]+/u)
  // Where the text has quotes, its form in JSON differs, and between its parts may be anything that stands for them.
  return { loose: parts.map(escape).join(String.raw`[\\"\s]{1,8}`), before: 'a-z0-9_', after: '(?![a-z0-9_])' }
}

/** An address, also as it is written in URLs. */
function emailPattern(email: string): string {
  return escape(email.trim().toLowerCase()).replaceAll('@', '(?:@|%40)')
}

/** The digits of a number with its country code, with any separators, and with `00` in place of `+`. */
function phonePattern(phone: string): string {
  return `(?:00)?${digitsOf(phone)
    .split('')
    .join(String.raw`[ \u00a0./()-]{0,3}`)}`
}

/** The digits of a telephone number, without the prefix of international calls. */
export function digitsOf(phone: string): string {
  return phone.replaceAll(/\D/g, '').replace(/^00/, '')
}

function escape(text: string): string {
  return text.replaceAll(/[\^$.*+?()[\]{}|\\]/g, String.raw`\$&`)
}
