/** The keywords of a JSON Schema that name the fields of a value. */
interface Fields {
  properties?: Record<string, Fields>
  additionalProperties?: boolean | Fields
  items?: Fields
}

/**
 * Removes the fields that a schema does not name, as the validation of the input does: where it forbids others. Parts of a
 * schema with alternatives remove nothing.
 *
 * @returns the number of values that remain
 */
export function keepKnownFields(value: unknown, schema: Fields | undefined): number {
  if (typeof value !== 'object' || value === null) return 1
  let values = 1
  if (Array.isArray(value)) {
    for (const element of value) values += keepKnownFields(element, schema?.items)
    return values
  }
  const { properties = {}, additionalProperties: others } = schema ?? {}
  for (const [name, field] of Object.entries(value)) {
    const isNamed = Object.hasOwn(properties, name)
    if (!isNamed && others === false) delete (value as Record<string, unknown>)[name]
    else values += keepKnownFields(field, isNamed ? properties[name] : typeof others === 'object' ? others : undefined)
  }
  return values
}
