import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/** The files that each file imports, types included. Paths start at the root of the repository. */
export type ImportGraph = Map<string, Set<string>>

/**
 * Reads the imports of source files: `import`, `export … from`, `import()` and `import('…')` of types, by relative path or by
 * an alias that begins with `#`. Imports of packages are left out.
 *
 * @param files paths from the root of the repository, which is the current directory
 */
export function readImports(files: string[]): ImportGraph {
  const known = new Set(files)
  return new Map(
    files.map((file) => [file, new Set(specifiersOf(file).flatMap((specifier) => resolve(file, specifier)))]),
  )

  function resolve(file: string, specifier: string): string[] {
    const path = specifier.startsWith('#') ? specifier.slice(1) : posix.join(posix.dirname(file), specifier)
    return known.has(path) && path !== file ? [path] : []
  }
}

function specifiersOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const { module, errors } = parseSync(file, text)
  const [error] = errors
  if (error) throw new Error(`${file}: ${error.message}`)
  const statically = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
  ]
  const dynamically = module.dynamicImports.flatMap(
    ({ moduleRequest: { start, end } }) => /^['"](.+)['"]$/.exec(text.slice(start, end))?.[1] ?? [],
  )
  const ofTypes = Array.from(text.matchAll(/\bimport\('([^']+)'\)/g), ([, specifier]) => specifier!)
  return [...statically, ...dynamically, ...ofTypes].filter((specifier) => /^[.#]/.test(specifier))
}

/**
 * The import circles: sets of files each of which reaches every other one (strongly connected components, by Tarjan's
 * algorithm), each sorted by path.
 */
export function findCircles(graph: ImportGraph): string[][] {
  const indexes = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const circles: string[][] = []

  function visit(file: string): number {
    const index = indexes.size
    indexes.set(file, index)
    lowest.set(file, index)
    stack.push(file)
    onStack.add(file)
    for (const imported of graph.get(file) ?? []) {
      if (!indexes.has(imported)) lowest.set(file, Math.min(lowest.get(file)!, visit(imported)))
      else if (onStack.has(imported)) lowest.set(file, Math.min(lowest.get(file)!, indexes.get(imported)!))
    }
    if (lowest.get(file) === index) {
      const circle = stack.splice(stack.indexOf(file))
      for (const member of circle) onStack.delete(member)
      if (circle.length > 1) circles.push(circle.toSorted())
    }
    return lowest.get(file)!
  }

  for (const file of graph.keys()) if (!indexes.has(file)) visit(file)
  return circles
}

/** An import of a layer that stands further right, which the order of the layers forbids. */
export interface WrongImport {
  from: string
  to: string
}

/**
 * Finds imports against an order of layers. Those of a layer may import each other, and everything of the layers before it.
 *
 * @param layers in their order; each is a list of paths of files, or of folders with a slash at the end
 */
export function findWrongImports(graph: ImportGraph, layers: string[][]): WrongImport[] {
  const layerOf = (file: string) =>
    layers.findIndex((paths) => paths.some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path)))
  return Array.from(graph).flatMap(([from, imported]) => {
    const layer = layerOf(from)
    if (layer === -1) return []
    return Array.from(imported)
      .filter((to) => layerOf(to) > layer)
      .map((to) => ({ from, to }))
  })
}
