/** Shorter secrets are words that occur in the log for other reasons too. */
const shortestSecret = 8
const starred = '***'

/**
 * Names of fields whose values are redacted. Without a bound of what is around the words, a long row of them would take
 * quadratic time.
 */
const secretName =
  '[\\w-]{0,100}(?:authorization|cookie|passw(?:or)?d|passphrase|secret|token|credential|api[-_]?key|user[-_]?key|secret[-_]?key|encryption[-_]?key|private[-_]?key|connectionstring)[\\w-]{0,100}|key'

/**
 * An escaped quotation mark in a string, matched from its first backslash only: a long row of backslashes would take
 * quadratic time.
 */
const quote = '(?<!\\\\)\\\\+"'

/** Each with its replacement; `$1` is the part that remains. The text is JSON, perhaps with JSON in its strings. */
const patterns: [pattern: RegExp, replacement: string][] = [
  [new RegExp(`("(?:${secretName})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi'), `$1"${starred}"`],
  [new RegExp(`(${quote}(?:${secretName})\\\\+"\\s*:\\s*\\\\+")(?:(?!${quote}).)*`, 'gi'), `$1${starred}`],
  [/("[\w-]{0,100}secrets"\s*:\s*)(?:\{[^{}]*\}|\[[^[\]]*\])/gi, `$1"${starred}"`],
  [new RegExp(`(${quote}[\\w-]{0,100}secrets\\\\+"\\s*:\\s*)\\{[^{}]*\\}`, 'gi'), `$1\\"${starred}\\"`],
  [/\b(Bearer|Basic)\s+[^\s"\\,]+/gi, `$1 ${starred}`],
  // The password in an address.
  [/(:\/\/[^\s/:@"\\]*:)[^\s/@"\\]+@/g, `$1${starred}@`],
  [/([?&;](?:[\w-]{0,100}(?:key|token|secret|password)|pwd)=)[^&;\s"\\]+/gi, `$1${starred}`],
  // User keys, and other signed or encrypted tokens. Without a bound for the header, a long row of them would take
  // quadratic time.
  [/\b(?:ses_)?eyJ[\w-]{1,1000}(?:\.[\w-]*){2,4}/g, starred],
  // Tokens that the platform issues.
  [/\b(pat|bak|iak|inv|aut|sid)_[\w-]{30,}/g, `$1_${starred}`],
  // Addresses that are credentials: of files and of tunnels. The file or tunnel remains readable, and the signature does not.
  [/\b([uc]\.file_\w{26}\.[\w.]{1,60}|account_\w{26})\.[\w-]{43}/g, `$1.${starred}`],
]

/** Redacts the secrets of known forms in a text that is not a log line, such as the field of a span. */
export const redactKnownForms = redactor([])

/**
 * Makes a function that redacts secrets in a log line, in any field or message.
 *
 * @param secrets values that this process knows; other secrets are recognised by their form or the name of their field
 */
export function redactor(secrets: readonly (string | undefined)[]): (line: string) => string {
  const spellings = secrets
    .filter((secret) => secret !== undefined && secret.length >= shortestSecret)
    .flatMap((secret) => [secret!, encodeURIComponent(secret!), JSON.stringify(secret).slice(1, -1)])
    .toSorted((a, b) => b.length - a.length)
  const known = spellings.length > 0 && new RegExp([...new Set(spellings)].map(RegExp.escape).join('|'), 'g')
  return (line) => {
    let text = known ? line.replaceAll(known, starred) : line
    for (const [pattern, replacement] of patterns) text = text.replaceAll(pattern, replacement)
    return text
  }
}
