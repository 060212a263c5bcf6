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
      .filter(([name, value]) => name.startsWith('SECRET_') && value.length >= shortestSecret)
      // Longest first, because one secret may contain another.
      .map(([, value]) => value)
      .toSorted((a, b) => b.length - a.length)
      .flatMap((value) => {
        const wellFormed = value.toWellFormed()
        const quoted = JSON.stringify(value).slice(1, -1)
        return [...new Set([value, encodeURIComponent(wellFormed), encodeURI(wellFormed), quoted])]
      })
  )
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
