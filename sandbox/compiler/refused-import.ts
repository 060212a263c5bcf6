import { isBuiltin } from 'node:module'
import { sourceFile, type SourcePosition } from './source-map.ts'
import type { ImportedName } from './contract.ts'

/**
 * Finds the first module that code imports by name, in any syntax, and that an isolate does not provide.
 *
 * @param given names of the modules that an isolate provides, without `node:`
 */
export function refusedImport(
  imports: ImportedName[],
  given: ReadonlySet<string> = new Set(),
): { problem: string; at: SourcePosition } | undefined {
  const refused = imports.find(({ name }) => !given.has(name.replace(/^node:/, '')))
  if (refused === undefined) return undefined
  const { name, line, column } = refused
  return { problem: whyRefused(name, given), at: { file: sourceFile, line, column } }
}

function whyRefused(name: string, given: ReadonlySet<string>): string {
  if (given.size > 0) return `the bundle requires '${name}'; isolates provide only ${[...given].join(', ')}`
  if (isBuiltin(name)) {
    return `it imports '${name}', and isolates have no Node: use web APIs (fetch, crypto, URL …), or bundle a library that works in browsers (docs/libraries.md lists some)`
  }
  return `it imports '${name}', which is not in the upload: bundle the dependencies, for instance with esbuild bot.ts --bundle --format=esm --sourcemap=inline --outfile=bot.js`
}
