/** Shorter values are no secrets, and stand in texts by chance. */
const shortestSecret = 6

/**
 * The secrets that a bundle was given, as they may stand in a text. What code encodes in a way of its own is not found.
 *
 * @param environment the bundle's; its variables `SECRET_…` are the secrets
 */
export function secretForms(environment: Record<string, string> = {}): string[] {
  return (
    Object.entries(environment)
      .filter(([name, value]) => name.startsWith('SECRET_') && value.length >= shortestSecret)
      // One may be part of another.
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
 * Hides the secrets that a bundle was given in what is written of it for people to read. It is for whole texts: of a
 * secret in whose middle a text was cut, the first part would stay.
 */
export function secretRedactor(environment?: Record<string, string>): (text: string) => string {
  const secrets = secretForms(environment)
  if (secrets.length === 0) return (text) => text
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text)
}
