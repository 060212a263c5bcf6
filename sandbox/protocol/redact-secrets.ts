/** Shorter values are not treated as secrets, because they occur in texts by chance. */
const shortestSecret = 6

/**
 * The secrets of a bundle, in the forms in which they may occur in a text. Other encodings, made by code, are not
 * found.
 *
 * @param environment the bundle's environment; its variables `SECRET_…` are the secrets
 */
export function secretForms(environment: Record<string, string> = {}): string[] {
  return (
    Object.entries(environment)
      .filter(([name]) => name.startsWith('SECRET_'))
      // Inspections show the lines of a text apart.
      .flatMap(([, value]) => [value, ...value.split(/\r?\n/)])
      .filter((value) => value.length >= shortestSecret)
      // Longest first, because one secret may contain another.
      .toSorted((a, b) => b.length - a.length)
      .flatMap((value) => {
        const wellFormed = value.toWellFormed()
        const quoted = JSON.stringify(value).slice(1, -1)
        return [...new Set([value, encodeURIComponent(wellFormed), encodeURI(wellFormed), quoted, ...inspected(value)])]
      })
  )
}

const shortEscapes: Record<string, string> = {
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
  '\\': '\\\\',
}

/** The forms of a text in the quotes of Node's `util.inspect`. */
function inspected(text: string): string[] {
  // oxlint-disable-next-line no-control-regex -- These are escaped.
  const escaped = text.replaceAll(/[\u0000-\u001f\\\u007f-\u009f]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')
    return shortEscapes[character] ?? `\\x${hex}`
  })
  return [escaped, escaped.replaceAll("'", "\\'")]
}

/**
 * Makes a function that redacts the secrets of a bundle in a text that people read. Only for whole texts: if a text was
 * cut in the middle of a secret, the first half of the secret would remain.
 */
export function secretRedactor(environment?: Record<string, string>): (text: string) => string {
  const secrets = secretForms(environment)
  if (secrets.length === 0) return (text) => text
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text)
}
