/**
 * Makes a stub for a function or a class of Node that isolates cannot have: bundles load, even if they derive from it,
 * and a call throws the reason.
 *
 * @param instead the alternative, for the message
 */
export function unavailable(name: string, instead = 'docs/node-modules.md lists what isolates have'): () => never {
  return function () {
    const message = `${name} is not available here: the code runs in an isolate without Node, ${instead}`
    throw Object.assign(new Error(message), { code: 'ERR_METHOD_NOT_IMPLEMENTED' })
  }
}
