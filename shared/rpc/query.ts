const ofObject = /^([^.[]*)(?:\.(.*)|\[(.*)\])$/s

/**
 * Reads the fields of a query as published clients encode them: an array repeats its key, which parsers know, and an
 * object has a key for each of its own (`tags.a=1&tags.b=2`), which they do not. The first dot alone divides, since the
 * inner key may hold dots itself: `tags.a.b=1` is the tag `a.b`. Clients made from the OpenAPI document, which has no word
 * for that, write `tags[a]=1`.
 *
 * @param flat what a parser made of the query, or an object that is nested already
 */
export function nestQuery(flat: Record<string, unknown>): Record<string, unknown> {
  const nested = new Map<string, unknown>()
  const objects = new Map<string, [string, unknown][]>()
  for (const [key, value] of Object.entries(flat)) {
    const [, name, afterDot, inBrackets] = ofObject.exec(key) ?? []
    const inner = afterDot ?? inBrackets
    if (name === undefined || inner === undefined) nested.set(key, value)
    else objects.set(name, [...(objects.get(name) ?? []), [inner, value]])
  }
  for (const [key, fields] of objects) nested.set(key, Object.fromEntries(fields))
  return Object.fromEntries(nested)
}
