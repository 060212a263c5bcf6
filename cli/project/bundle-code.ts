import { isBuiltin } from 'node:module'
import { context, type BuildContext, type BuildOptions, type BuildResult, type Message } from 'esbuild'
import { codeLimit } from '#shared/models/bot-code.ts'
import { megabyte } from '#shared/units.ts'
import { failed } from '../failure.ts'
import type { Problem } from './code-frame.ts'

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

/** @param entry the module, relative to the folder, to which the positions of problems are relative, too */
export async function openCodeBundler(folder: string, entry: string): Promise<CodeBundler> {
  const contexts = new AsyncDisposableStack()
  const open = async (minifies: boolean) =>
    contexts.adopt(await context(optionsOf(folder, entry, minifies)), (building) => building.dispose())
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
 * An isolate has the APIs of browsers and not those of Node, so packages are bundled in their browser form, with the
 * replacement files of `browser` in package.json.
 */
function optionsOf(folder: string, entry: string, minifies: boolean) {
  return {
    absWorkingDir: folder,
    entryPoints: [entry],
    outfile: 'bot.js',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['worker', 'browser'],
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
  } as const satisfies BuildOptions
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
    return [toProblem(message, name)]
  })
}

function toProblem({ text, location }: Message, packageName: string | undefined): Problem {
  const [, module] = /^Could not resolve "(.*)"$/.exec(text) ?? []
  const message = module === undefined ? text : unresolved(module, packageName, location !== null)
  if (!location) return { message }
  return { file: location.file, line: location.line, column: location.column + 1, message }
}

function unresolved(module: string, packageName: string | undefined, isImported: boolean): string {
  if (isBuiltin(module)) return noNode(module, packageName)
  if (!isImported) return `There is no file ${module}: create it, or set "entry" to another file`
  if (/^[./]/.test(module)) return `There is no file ${module}`
  return `There is no package '${module}': install it in the project's folder with \`npm install ${nameOf(module)}\``
}

/** The package that an import names, without the path in it. */
function nameOf(module: string): string {
  const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(module) ?? [module]
  return name
}

function noNode(module: string, packageName: string | undefined): string {
  const importing = packageName === undefined ? 'It imports' : `The package '${packageName}' imports`
  return (
    `${importing} '${module}', and isolates have no Node: use web APIs (fetch, crypto, URL …), ` +
    `or a library that works in browsers; ${libraries}`
  )
}
