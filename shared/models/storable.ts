import { isRecord } from './payload.ts'

/** Replaces the characters of a text that PostgreSQL cannot store: U+0000 and half of a surrogate pair. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}

/** A value whose texts and names of fields can be stored, as above. */
export function toStorable<Value>(value: Value): Value {
  if (typeof value === 'string') return storableText(value) as Value
  if (Array.isArray(value)) return value.map(toStorable) as Value
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [toStorable(name), toStorable(each)])) as Value
}
