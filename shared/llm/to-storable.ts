import { isRecord } from '../models/payload.ts'

/** Makes a value storable: PostgreSQL stores neither U+0000 nor half of a surrogate pair, and a paid answer must be stored. */
export function toStorable<Value>(value: Value): Value {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD') as Value
  if (Array.isArray(value)) return value.map(toStorable) as Value
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [toStorable(name), toStorable(each)])) as Value
}
