// Plain JavaScript that any Node since 14 can load.
import module from 'module'

const root = new URL('../../', import.meta.url).href

/**
 * Has Node take the address of a TypeScript module of this repository from the import alone: each import names its file.
 * Node would look for links and package files for each of some thousands of imports, which takes an eighth of the
 * processor time of loading the api or the worker.
 */
export function resolveOwnModules() {
  module.registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = specifier.endsWith('.ts') && isOwn(context.parentURL) && urlOf(specifier, context.parentURL)
      return url ? { url, format: 'module-typescript', shortCircuit: true } : nextResolve(specifier, context)
    },
  })
}

function isOwn(parentUrl = '') {
  return parentUrl.startsWith(root) && !parentUrl.includes('/node_modules/')
}

/** The address that a relative import means, or one that begins as those of `imports` in package.json do. */
function urlOf(specifier, parentUrl) {
  if (specifier.startsWith('.')) return new URL(specifier, parentUrl).href
  if (/^#(shared|sandbox)\//.test(specifier)) return root + specifier.slice(1)
  return undefined
}
