/**
 * Resolves the references within a part of an OpenAPI document, all of which are to components of the document.
 *
 * @param document the whole
 * @param {string[]} path the keys that lead to the part
 */
export function resolvePart(document, path) {
  /** By reference: a component appears in many places. */
  const resolved = new Map()

  function resolve(value) {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    if (typeof value.$ref === 'string') return component(value.$ref)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each)]))
  }

  function component(reference) {
    if (!resolved.has(reference)) {
      // A component within itself stays a reference.
      resolved.set(reference, { $ref: reference })
      resolved.set(reference, resolve(at(document, reference.split('/').slice(1))))
    }
    return resolved.get(reference)
  }

  return resolve(at(document, path))
}

function at(document, path) {
  return path.reduce((value, key) => value?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document)
}
