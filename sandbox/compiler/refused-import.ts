import { isBuiltin } from 'node:module'
import { sourceFile, type SourcePlace } from './source-map.ts'
import type { ImportedName } from './contract.ts'

/**
 * Finds the first module that code imports by name, in any syntax, and that an isolate does not provide.
 *
 * @param given names of the modules that an isolate provides, without `node:`
 */
export function refusedImport(
  imports: ImportedName[],
  given: ReadonlySet<string> = new Set(),
): { problem: string; at: SourcePlace } | undefined {
  const refused = imports.find(({ name }) => !given.has(name.replace(/^node:/, '')))
  if (refused === undefined) return undefined
  const { name, line, column } = refused
  return { problem: whyRefused(name, given), at: { file: sourceFile, line, column } }
}

function whyRefused(name: string, given: ReadonlySet<string>): string {
  if (given.size > 0) return `the bundle asks for '${name}'; an isolate gives only ${[...given].join(', ')}`
  if (isBuiltin(name)) {
    return `it imports '${name}', and there is no Node in isolates: use what the web has (fetch, crypto, URL …), or bundle a library that works in browsers (docs/libraries.md has some)`
  }
  return `it imports '${name}', which is not in the upload: bundle what it needs, for instance with esbuild bot.ts --bundle --format=esm --sourcemap=inline --outfile=bot.js`
}
