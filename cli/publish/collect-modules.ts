import { readFile } from 'node:fs/promises'
import { isBuiltin, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { parse } from 'es-module-lexer/js'

/** The modules of a package, and all that they name. */
export interface CollectedModules {
  /** JavaScript by path in the package. */
  modules: Map<string, string>
  /** Installed packages that the modules import, or find by `resolve`. */
  packages: Set<string>
}

interface CollectOptions {
  /** The repository. */
  root: string
  /** Paths of the modules to begin with, relative to the root. */
  entries: string[]
  /** Modules that are left out with all that only they import; importing them fails. */
  without?: string[]
  /** Names of the packages that the repository declares. */
  declared: ReadonlySet<string>
}

/**
 * Follows the imports from some modules, and strips each module of its types. Types become blanks of the same length, as
 * when Node strips them, so that lines and columns in stacks are those of the sources.
 */
export async function collectModules({
  root,
  entries,
  without = [],
  declared,
}: CollectOptions): Promise<CollectedModules> {
  const modules = new Map<string, string>()
  const packages = new Set<string>()
  const pending = [...entries]
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (modules.has(toJavaScript(path))) continue
    const { code, specifiers, resolved } = readModule(path, await readFile(join(root, path), 'utf8'))
    modules.set(toJavaScript(path), code)
    for (const specifier of specifiers) {
      const imported = toPath(path, specifier)
      if (imported !== undefined && !without.includes(imported)) pending.push(imported)
      if (imported === undefined && !isBuiltin(specifier)) packages.add(packageOf(specifier))
    }
    for (const specifier of resolved) if (declared.has(packageOf(specifier))) packages.add(packageOf(specifier))
  }
  return { modules, packages }
}

interface Module {
  code: string
  /** The modules that it imports or starts. */
  specifiers: string[]
  /** The texts that it gives to functions named `resolve`: packages among others. */
  resolved: string[]
}

/** The address of a module that runs as a process of its own. */
const besides = /\bnew URL\('(\.[^']+\.ts)', import\.meta\.url\)/g

function readModule(path: string, source: string): Module {
  const plain = path.endsWith('.ts') ? stripTypeScriptTypes(source) : source
  const [imports] = parse(plain, path)
  const specifiers = imports.flatMap((found) => ('specifier' in found ? (found.specifier ?? []) : []))
  let code = plain
  // From the end, although no position moves: both extensions have the same length.
  for (const { start, end } of imports.toReversed()) {
    code = code.slice(0, start) + code.slice(start, end).replace(/\.ts(?='?$)/, '.js') + code.slice(end)
  }
  code = code.replaceAll(besides, (call, name: string) => call.replace(name, toJavaScript(name)))
  return {
    code,
    specifiers: [...specifiers, ...Array.from(plain.matchAll(besides), ([, name]) => name!)],
    resolved: Array.from(plain.matchAll(/\.resolve\('([^'.][^']*)'\)/g), ([, name]) => name!),
  }
}

function toJavaScript(path: string): string {
  return path.replace(/\.ts$/, '.js')
}

/** The path of an imported module relative to the root; undefined for packages and modules of Node. */
function toPath(importer: string, specifier: string): string | undefined {
  // As `imports` in package.json has it.
  if (specifier.startsWith('#')) return specifier.slice(1)
  return specifier.startsWith('.') ? join(importer, '..', specifier) : undefined
}

function packageOf(specifier: string): string {
  const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)!
  return name
}
