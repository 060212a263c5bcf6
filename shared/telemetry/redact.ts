/** Shorter secrets are words that stand in the log for other reasons too. */
const shortestSecret = 8
const starred = '***'

/** What fields are called whose values nobody is to read. */
const secretName =
  '[\\w-]*(?:authorization|cookie|passw(?:or)?d|passphrase|secret|token|credential|api[-_]?key|user[-_]?key|secret[-_]?key|encryption[-_]?key|private[-_]?key|connectionstring)[\\w-]*|key'

/** A quotation mark in a string, looked for from its first backslash only: a long row of them would take for ever. */
const quote = '(?<!\\\\)\\\\+"'

/** With what takes its place; `$1` is what remains. The text is JSON, perhaps with JSON in its strings. */
const patterns: [pattern: RegExp, replacement: string][] = [
  [new RegExp(`("(?:${secretName})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi'), `$1"${starred}"`],
  [new RegExp(`(${quote}(?:${secretName})\\\\+"\\s*:\\s*\\\\+")(?:(?!${quote}).)*`, 'gi'), `$1${starred}`],
  [/("[\w-]*secrets"\s*:\s*)(?:\{[^{}]*\}|\[[^[\]]*\])/gi, `$1"${starred}"`],
  [new RegExp(`(${quote}[\\w-]*secrets\\\\+"\\s*:\\s*)\\{[^{}]*\\}`, 'gi'), `$1\\"${starred}\\"`],
  [/\b(Bearer|Basic)\s+[^\s"\\,]+/gi, `$1 ${starred}`],
  // The password in an address.
  [/(:\/\/[^\s/:@"\\]*:)[^\s/@"\\]+@/g, `$1${starred}@`],
  [/([?&;](?:[\w-]*(?:key|token|secret|password)|pwd)=)[^&;\s"\\]+/gi, `$1${starred}`],
  // User keys, and anything else that is signed or encrypted. Without an end of the header, a long row of them would take for ever.
  [/\beyJ[\w-]{1,1000}(?:\.[\w-]*){2,4}/g, starred],
  // Tokens that we give out.
  [/\b(pat|bak|iak)_[\w-]{30,}/g, `$1_${starred}`],
]

/**
 * Makes a function that takes secrets out of a line of the log, whatever field or message they got into.
 *
 * @param secrets values that this process knows; the others are known by their form, or by the names of their fields
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
