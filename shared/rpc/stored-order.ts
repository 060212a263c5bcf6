/**
 * A JSON value with the fields of its objects in the order in which PostgreSQL stores them: by the length of their names in
 * bytes, then by these bytes. Code gets the answer to a call in this order at once, so that the recorded answer, which a
 * repeated run gets, is the same text where code writes it into a prompt or a message.
 */
export function inStoredOrder<Value>(value: Value): Value {
  return order(value) as Value
}

function order(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(order)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const fields = Object.entries(value).map(([name, field]) => ({ name, bytes: Buffer.from(name), field: order(field) }))
  fields.sort((one, other) => one.bytes.length - other.bytes.length || one.bytes.compare(other.bytes))
  return Object.fromEntries(fields.map(({ name, field }) => [name, field]))
}
