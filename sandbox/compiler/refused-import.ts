import { isBuiltin } from 'node:module'
import { sourceFile, type SourcePosition } from './source-map.ts'
import type { ImportedName } from './contract.ts'

/**
 * Finds the first module that the code of a native bundle imports by name, in any syntax, and that cannot be there, because it
 * is none of Node's. One of Node's that isolates do not have fails as in Node, where it is asked for, because many are
 * optional. (A bundle of the public SDK may ask for any module.)
 */
export function refusedImport(imports: ImportedName[]): { problem: string; at: SourcePosition } | undefined {
  const refused = imports.find(({ name }) => !isBuiltin(name))
  if (refused === undefined) return undefined
  const { name, line, column } = refused
  const problem = `it imports '${name}', which is not in the upload: bundle the dependencies, for instance with esbuild bot.ts --bundle --format=esm --sourcemap=inline --outfile=bot.js`
  return { problem, at: { file: sourceFile, line, column } }
}
