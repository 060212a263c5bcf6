/** A value as a text of whole characters, as the web's interfaces take it; symbols are refused. */
export function toText(value: unknown): string {
  if (typeof value === 'symbol') throw new TypeError('A symbol is no text')
  return String(value).toWellFormed()
}
