import { isRecord } from '../models/payload.ts'

const ofObject = /^([^.[]*)(?:\.(.*)|\[(.*)\])$/s

/**
 * Nests the fields of a query as published clients encode them: an array repeats its key, which query parsers support,
 * and an object has one key per field (`tags.a=1&tags.b=2`), which they do not. Only the first dot separates, since the
 * inner key may contain dots: `tags.a.b=1` is the tag `a.b`. Clients generated from the OpenAPI document, which cannot
 * express this encoding, write `tags[a]=1`.
 *
 * @param flat the parsed query, or an object that is already nested
 */
export function nestQuery(flat: Record<string, unknown>): Record<string, unknown> {
  const nested = new Map<string, unknown>()
  const objects = new Map<string, [string, unknown][]>()
  for (const [key, value] of Object.entries(flat)) {
    const [, name, afterDot, inBrackets] = ofObject.exec(key) ?? []
    const inner = afterDot ?? inBrackets
    if (name === undefined || inner === undefined) nested.set(key, value)
    else getOrInsert(objects, name).push([inner, value])
  }
  for (const [key, fields] of objects) nested.set(key, Object.fromEntries(fields))
  return Object.fromEntries(nested)
}

/** The list of a key, for further elements: code may send a hundred thousand fields, and copies of lists would take minutes. */
export function getOrInsert<Element>(lists: Map<string, Element[]>, key: string): Element[] {
  let list = lists.get(key)
  if (!list) lists.set(key, (list = []))
  return list
}

/**
 * Drops times without a value: a published runtime of agents sends `beforeDate=` where it has none.
 *
 * @param input the schema of the input
 */
export function withoutEmptyTimes(input: object, fields: Record<string, unknown>): Record<string, unknown> {
  const { properties } = input as { properties?: Record<string, unknown> }
  const isTime = (name: string) => {
    const field = properties && Object.hasOwn(properties, name) ? properties[name] : undefined
    return isRecord(field) && field['format'] === 'date-time'
  }
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== '' || !isTime(name)))
}
