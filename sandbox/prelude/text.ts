/** A value as a text, as the web's interfaces take it; symbols are refused. */
export function toDomString(value: unknown): string {
  if (typeof value === 'symbol') throw new TypeError('A symbol is no text')
  return String(value)
}

/** The same, of whole characters. */
export function toText(value: unknown): string {
  return toDomString(value).toWellFormed()
}
