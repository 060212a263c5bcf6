/**
 * Makes a stub for a function of Node that isolates cannot have: bundles load, and a call throws the reason.
 *
 * @param instead the alternative, for the message
 */
export function unavailable(name: string, instead = 'use fetch for outbound requests'): () => never {
  return () => {
    const error = new Error(`${name} is not available here: the code runs in an isolate without Node, ${instead}`)
    throw Object.assign(error, { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
  }
}

/** Makes such stubs for the functions of a module, by name. */
export function unavailableIn(module: string, names: readonly string[], instead?: string): Record<string, () => never> {
  return Object.fromEntries(names.map((name) => [name, unavailable(`${module}.${name}`, instead)]))
}
