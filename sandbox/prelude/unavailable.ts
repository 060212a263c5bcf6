/**
 * Makes a function that stands where Node has one that no isolate can have: bundles load, and learn what is missing
 * when they call it.
 *
 * @param instead what to do in its place
 */
export function unavailable(name: string, instead = 'use fetch to reach the world outside'): () => never {
  return () => {
    const error = new Error(`${name} is not available here: the code runs in an isolate without Node, ${instead}`)
    throw Object.assign(error, { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
  }
}

/** Such functions by their names, for a module. */
export function unavailableIn(module: string, names: readonly string[], instead?: string): Record<string, () => never> {
  return Object.fromEntries(names.map((name) => [name, unavailable(`${module}.${name}`, instead)]))
}
