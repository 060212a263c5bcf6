/** Converts a value to a string, as Web IDL's `DOMString` does; throws for symbols. */
export function toDomString(value: unknown): string {
  if (typeof value === 'symbol') throw new TypeError('A symbol cannot be converted to a string')
  return String(value)
}

/** The same, with lone surrogates replaced. */
export function toText(value: unknown): string {
  return toDomString(value).toWellFormed()
}
