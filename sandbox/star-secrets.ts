/** Shorter values are no secrets, and stand in texts by chance. */
const shortestSecret = 6

/**
 * Hides the secrets that a bundle was given in what is written of it for people to read. What code encodes in a way of its
 * own is not found.
 *
 * @param environment the bundle's; its variables `SECRET_…` are the secrets
 */
export function secretsStarrer(environment: Record<string, string> = {}): (text: string) => string {
  const secrets = Object.entries(environment)
    .filter(([name, value]) => name.startsWith('SECRET_') && value.length >= shortestSecret)
    // One may be part of another.
    .map(([, value]) => value)
    .toSorted((a, b) => b.length - a.length)
    .flatMap((value) => [
      ...new Set([value, encodeURIComponent(value.toWellFormed()), JSON.stringify(value).slice(1, -1)]),
    ])
  if (secrets.length === 0) return (text) => text
  return (text) => secrets.reduce((starred, secret) => starred.replaceAll(secret, '***'), text)
}
