import { isBuiltin } from 'node:module'
import { sourceFile, type SourcePosition } from './source-map.ts'
import type { ImportedName } from './contract.ts'

/**
 * Finds the first module that the code of a native bundle imports by name, in any syntax: an isolate provides none. (A
 * bundle of the public SDK may ask for any module. One that it does not find fails as in Node, where it is asked for,
 * because many are optional.)
 */
export function refusedImport(imports: ImportedName[]): { problem: string; at: SourcePosition } | undefined {
  const [refused] = imports
  if (refused === undefined) return undefined
  const { name, line, column } = refused
  return { problem: whyRefused(name), at: { file: sourceFile, line, column } }
}

function whyRefused(name: string): string {
  if (isBuiltin(name)) {
    return `it imports '${name}', and isolates have no Node: use web APIs (fetch, crypto, URL …), or bundle a library that works in browsers (docs/libraries.md lists some)`
  }
  return `it imports '${name}', which is not in the upload: bundle the dependencies, for instance with esbuild bot.ts --bundle --format=esm --sourcemap=inline --outfile=bot.js`
}
