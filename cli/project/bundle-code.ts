import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import {
  context,
  type BuildContext,
  type BuildOptions,
  type BuildResult,
  type Message,
  type OnResolveArgs,
  type OnResolveResult,
  type Plugin,
} from 'esbuild'
import { findNodeModule } from '#sandbox/modules/table.ts'
import { codeLimit } from '#shared/models/bot-code.ts'
import { megabyte } from '#shared/units.ts'
import { failed } from '../failure.ts'
import type { Problem } from './code-frame.ts'
import type { ProjectSettings } from './settings.ts'

/** One module with all that it imports, and the source map to its sources. */
export interface BundledCode {
  code: string
  sourceMap: string
}

/** Bundles one module repeatedly. After the first time it reads only changed files. */
export interface CodeBundler extends AsyncDisposable {
  /** @returns the bundle, or the problems of the source */
  bundle(): Promise<BundledCode | { problems: Problem[] }>
}

/** The hint in errors about packages that do not work in isolates. */
const libraries = 'docs/libraries.md lists tested libraries and replacements for others'

/** Size in characters from which a bundle is minified: larger ones take long to compile. */
const minifiedFrom = 3 * megabyte

/** The number of largest packages named in the error about a bundle that is too large. */
const namedPackages = 5

/**
 * @param entry the module, relative to the folder, to which the positions of problems are relative, too
 * @param packages the form of packages that have two
 */
export async function openCodeBundler(
  folder: string,
  entry: string,
  packages: ProjectSettings['packages'] = 'browser',
): Promise<CodeBundler> {
  const contexts = new AsyncDisposableStack()
  const open = async (minifies: boolean) =>
    contexts.adopt(await context({ ...optionsOf(folder, entry, minifies), ...forms[packages] }), (building) =>
      building.dispose(),
    )
  const plain = await open(false)
  let minifying: BuildContext | undefined
  return {
    async bundle() {
      try {
        let result: BuildResult = await plain.rebuild()
        if (sizeOf(result) >= minifiedFrom) result = await (minifying ??= await open(true)).rebuild()
        return sizeOf(result) > codeLimit ? { problems: [tooLarge(result)] } : toBundled(result)
      } catch (error) {
        if (error instanceof Error && 'errors' in error) return { problems: toProblems(error.errors as Message[]) }
        throw failed(`${entry} cannot be bundled: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        })
      }
    },
    [Symbol.asyncDispose]: () => contexts.disposeAsync(),
  }
}

/**
 * The forms of packages. That for browsers, with the replacement files of `browser` in package.json, is smaller and loads faster.
 * A few need a window. A package without such a form gets the modules of Node from the isolate (`sandbox/modules/table.ts`) with both.
 * A package in its form for Node may use `process` and import no module, and the globals of Node come with a module.
 */
const forms = {
  browser: { platform: 'browser', mainFields: ['browser', 'module', 'main'], conditions: ['worker', 'browser'] },
  node: { platform: 'node', banner: { js: `import 'node:process'` } },
} as const satisfies Record<NonNullable<ProjectSettings['packages']>, BuildOptions>

function optionsOf(folder: string, entry: string, minifies: boolean) {
  return {
    absWorkingDir: folder,
    entryPoints: [entry],
    outfile: 'bot.js',
    write: false,
    bundle: true,
    format: 'esm',
    // Packages with a development mode omit its checks.
    define: { 'process.env.NODE_ENV': '"production"' },
    minify: minifies,
    // Errors, and code that reads the names of functions and classes, see the author’s names.
    keepNames: minifies,
    target: 'es2024',
    charset: 'utf8',
    sourcemap: 'external',
    sourcesContent: true,
    metafile: true,
    logLevel: 'silent',
    plugins: [unbundledImports],
  } as const satisfies BuildOptions
}

const isResolved = Symbol('is resolved')

/** The namespace of packages that are not installed, and of native code, which isolates cannot load. */
const absent = 'absent'

const nativeCode = /\.node$/

/**
 * Leaves imports of Node's modules, which no package replaces, to the isolate. Packages may ask for others that are not
 * installed when they need them, or to find out whether they are there: such a request throws as in Node.
 */
const unbundledImports: Plugin = {
  name: 'modules of Node and packages that are not installed',
  setup(build) {
    build.onResolve({ filter: /^[^./#]/ }, async (args) => {
      const { path, importer, namespace, resolveDir, kind } = args
      const isOptional = kind !== 'import-statement' && packageOf(importer) !== undefined
      if (args.pluginData === isResolved || !(isOptional || isBuiltin(path))) return undefined
      const own = await build.resolve(path, { importer, namespace, resolveDir, kind, pluginData: isResolved })
      const isReplaced = own.errors.length === 0 && !own.external
      if (isReplaced && !(isBuiltin(path) && isOfOthers(path, importer, own.path))) return undefined
      return isBuiltin(path) ? toNodeModule(args) : { path, namespace: absent }
    })
    build.onResolve({ filter: nativeCode }, ({ path, importer }) =>
      packageOf(importer) === undefined ? undefined : { path, namespace: absent },
    )
    build.onLoad({ filter: /^/, namespace: absent }, ({ path }) => {
      const why = nativeCode.test(path) ? 'isolates load no native code' : 'the package is not installed'
      const message = JSON.stringify(`Cannot find module '${path}': ${why}`)
      return { contents: `throw Object.assign(new Error(${message}), { code: 'MODULE_NOT_FOUND' })` }
    })
  },
}

/**
 * Whether a file belongs to a package with the name of a module of Node, such as `buffer`, that another package has brought along: the
 * importing one does not depend on it, and expects Node's.
 */
function isOfOthers(name: string, importer: string, file: string): boolean {
  if (packageOf(file) !== name) return false
  const [folder] = /^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(importer) ?? []
  if (folder === undefined) return false
  try {
    const told = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, object | undefined>
    const { dependencies = {}, peerDependencies = {}, optionalDependencies = {}, browser = {} } = told
    return ![dependencies, peerDependencies, optionalDependencies, browser].some((names) => Object.hasOwn(names, name))
  } catch {
    return false
  }
}

function toNodeModule({ path, importer, kind }: OnResolveArgs): OnResolveResult {
  const module = findNodeModule(path)
  const packageName = packageOf(importer)
  // Packages name such modules for functions that a bot need not call. In the author’s own file it is an error.
  const fails = packageName === undefined && module?.kind === 'shape'
  // A package may try an optional module with `require`.
  const isMissing = module === undefined && (packageName === undefined || kind === 'import-statement')
  if (fails || isMissing) return { errors: [{ text: notInIsolates(path, packageName, module?.note) }] }
  return { path, external: true }
}

function notInIsolates(module: string, packageName: string | undefined, why = 'isolates do not have it'): string {
  const importing = packageName === undefined ? 'It imports' : `The package '${packageName}' imports`
  return (
    `${importing} '${module}', which does not work: ${why}. docs/node-modules.md lists the modules of Node that do; ` +
    libraries
  )
}

function toBundled({ outputFiles = [] }: BuildResult): BundledCode {
  const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? ''
  return { code: textOf('.js'), sourceMap: withOwnSources(textOf('.js.map')) }
}

/** A source map with the content of the project's own files, for the console, and without that of packages (size). */
function withOwnSources(sourceMap: string): string {
  const { sourcesContent, ...map } = JSON.parse(sourceMap) as { sources: string[]; sourcesContent: (string | null)[] }
  return JSON.stringify({
    ...map,
    sourcesContent: sourcesContent.map((content, index) =>
      packageOf(map.sources[index]!) === undefined ? content : null,
    ),
  })
}

function sizeOf({ outputFiles = [] }: BuildResult): number {
  return outputFiles.find(({ path }) => path.endsWith('.js'))?.text.length ?? 0
}

/** The problem of a bundle that is too large, with the sizes of its largest parts. */
function tooLarge(result: BuildResult): Problem {
  const bytes = new Map<string, number>()
  const [output] = Object.values(result.metafile?.outputs ?? {}).filter(({ entryPoint }) => entryPoint !== undefined)
  for (const [file, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
    const name = packageOf(file) ?? 'the project'
    bytes.set(name, (bytes.get(name) ?? 0) + bytesInOutput)
  }
  const largest = [...bytes].toSorted(([, a], [, b]) => b - a).slice(0, namedPackages)
  const named = largest.map(([name, size]) => `${name} ${megabytes(size)}`).join(', ')
  return {
    message:
      `The minified bundle has ${megabytes(sizeOf(result))}, more than the maximum of ${megabytes(codeLimit)}. ` +
      `The largest parts: ${named}. Import less of them, or use smaller packages: ${libraries}`,
  }
}

function megabytes(size: number): string {
  return `${(size / 1024 / 1024).toFixed(1)} MB`
}

/** The package of a file; undefined for the project's own files. */
function packageOf(file: string): string | undefined {
  const [, name] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file.replaceAll('\\', '/')) ?? []
  return name
}

/** The problems found, limited to the first of each package: one that needs Node imports many of its modules. */
function toProblems(messages: Message[]): Problem[] {
  const seen = new Set<string>()
  return messages.flatMap((message) => {
    const name = message.location ? packageOf(message.location.file) : undefined
    if (name !== undefined && seen.has(name)) return []
    if (name !== undefined) seen.add(name)
    return [toProblem(message)]
  })
}

function toProblem({ text, location }: Message): Problem {
  const [, module] = /^Could not resolve "(.*)"$/.exec(text) ?? []
  const message = module === undefined ? text : unresolved(module, location !== null)
  if (!location) return { message }
  return { file: location.file, line: location.line, column: location.column + 1, message }
}

function unresolved(module: string, isImported: boolean): string {
  if (!isImported) return `There is no file ${module}: create it, or set "entry" to another file`
  if (/^[./]/.test(module)) return `There is no file ${module}`
  return `There is no package '${module}': install it in the project's folder with \`npm install ${nameOf(module)}\``
}

/** The package that an import names, without the path in it. */
function nameOf(module: string): string {
  const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(module) ?? [module]
  return name
}
