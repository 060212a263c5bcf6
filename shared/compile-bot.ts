import { createHash } from 'node:crypto'
import { isBuiltin } from 'node:module'
import { build, type Message, type Plugin } from 'esbuild'
import { ApiError } from './errors.ts'
import { findSources, readSourceMap, type Place, type SourcePlace } from './source-map.ts'
import type { CodeKind } from './store/tables.ts'

/** How uploaded code is called in errors. */
const sourceFile = 'bot.ts'

export interface CompiledBot {
  kind: CodeKind
  source: string
  /** Whether the source exports by `module` or `exports`, and not by `export`. */
  isCommonJs: boolean
  /** SHA-256 of the source, in hexadecimal. */
  hash: string
  /** What the isolate runs: a CommonJS script. */
  script: string
  /** JSON that leads positions of the script back to the source; empty where they are the same. */
  sourceMap: string
}

/**
 * Compiles an uploaded module, TypeScript or JavaScript, to the script that the isolate runs. Nothing of it is run. A
 * source map that comes with it, for instance in the last line of a bundle, leads on to the files it was made of.
 *
 * @param sourceMap of a bundle, as JSON; instead of one that the source itself carries
 * @throws ApiError `InvalidPayload` naming file, line and column of the first error
 */
export async function compileBot(source: string, sourceMap?: string): Promise<CompiledBot> {
  const { outputFiles, metafile } = await explained(
    build({
      ...input(sourceMap === undefined ? source : withMap(source, sourceMap)),
      // A name that is computed is not known before it runs: then the `require` of the isolate says what is wrong.
      supported: { 'dynamic-import': false },
      // It names the files, of which none is written.
      outfile: 'bot.js',
      sourcemap: 'external',
      sourcesContent: false,
    }),
  )
  const output = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? ''
  const format = metafile.inputs[sourceFile]?.format
  return {
    kind: 'native',
    source,
    isCommonJs: format === 'cjs',
    hash: hashOf(source),
    // A module is strict code. Its script begins with a line of esbuild's own, where no position leads from.
    script: (format === 'esm' ? `'use strict';` : '') + output('.js'),
    sourceMap: output('.js.map'),
  }
}

/** A bundle of the public SDK is run as it is, without the source map that it may carry. */
export function asSdkBundle(source: string, sourceMap?: string): CompiledBot {
  const { code, carried } = splitMap(source)
  return {
    kind: 'sdk',
    source,
    isCommonJs: true,
    hash: hashOf(source),
    script: code,
    sourceMap: readSourceMap(sourceMap ?? carried) ?? '',
  }
}

const mapComment = '\n//# sourceMappingURL='

/** Takes the last line with a source map off, and gives that map, if it is within the line. */
function splitMap(source: string): { code: string; carried: string } {
  const start = source.lastIndexOf(mapComment)
  const url = start < 0 ? '\n' : source.slice(start + mapComment.length).trimEnd()
  if (url.includes('\n')) return { code: source, carried: '' }
  const [, base64 = ''] = /^data:application\/json[^,]*;base64,(.*)$/.exec(url) ?? []
  return { code: source.slice(0, start + 1), carried: Buffer.from(base64, 'base64').toString() }
}

/** @throws ApiError `InvalidPayload` when the map is none */
function withMap(source: string, sourceMap: string): string {
  const read = readSourceMap(sourceMap)
  if (read === undefined) throw new ApiError('InvalidPayload', 'sourceMap must be the JSON of a source map, version 3')
  // esbuild takes no map whose mappings mention names that it has not.
  const { names = [] } = JSON.parse(sourceMap) as { names?: unknown }
  const map = JSON.stringify({ ...(JSON.parse(read) as object), names })
  const url = `data:application/json;base64,${Buffer.from(map).toString('base64')}`
  return `${splitMap(source).code}${mapComment}${url}\n`
}

const refusesImports = 'refuses imports'

/** Refuses every module that code asks for by its name and that an isolate does not give. */
function refuser(given: ReadonlySet<string>): Plugin {
  return {
    name: refusesImports,
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ kind, path }) => {
        if (kind === 'entry-point') return undefined
        if (given.has(path.replace(/^node:/, ''))) return { path, external: true }
        return { errors: [{ text: whyRefused(path, given) }] }
      })
    },
  }
}

function whyRefused(name: string, given: ReadonlySet<string>): string {
  if (given.size > 0) return `the bundle asks for '${name}'; an isolate gives only ${[...given].join(', ')}`
  if (isBuiltin(name)) {
    return `it imports '${name}', and there is no Node in isolates: use what the web has (fetch, crypto, URL …), or bundle a library that works in browsers (docs/libraries.md has some)`
  }
  return `it imports '${name}', which is not in the upload: bundle what it needs, for instance with esbuild bot.ts --bundle --format=esm --sourcemap=inline --outfile=bot.js`
}

/**
 * Refuses code that asks for a module by its name, in whatever way. It must have been compiled before, which finds what
 * else is wrong with it.
 *
 * @param given names of modules that an isolate gives, without `node:`
 * @throws ApiError `InvalidPayload` naming the module, and where it is first asked for
 */
export async function refuseImports(source: string, given: ReadonlySet<string> = new Set()): Promise<void> {
  if (!/\b(?:import|export|require)\b/.test(source)) return
  try {
    await build({ ...input(source), bundle: true, plugins: [refuser(given)] })
  } catch (error) {
    // Others are of names that code puts together, which are perhaps never reached; if they are, the isolate says so.
    const refused = messagesOf(error).filter(({ pluginName }) => pluginName === refusesImports)
    const [first] = refused.toSorted((a, b) => lineOf(a) - lineOf(b))
    if (first) throw toRefusal(first)
  }
}

function lineOf({ location }: Message): number {
  return location?.line ?? 0
}

function input(source: string) {
  return {
    stdin: { contents: source, loader: 'ts', sourcefile: sourceFile },
    write: false,
    metafile: true,
    format: 'cjs',
    target: 'es2024',
    // That of the directory in which the process happens to run is not the author's.
    tsconfigRaw: {},
    logLevel: 'silent',
  } as const
}

function hashOf(source: string): string {
  return createHash('sha256').update(source).digest('hex')
}

/** Turns what esbuild has to say of the code into an answer. */
async function explained<Result>(compiling: Promise<Result>): Promise<Result> {
  try {
    return await compiling
  } catch (error) {
    const [first] = messagesOf(error)
    throw first ? toRefusal(first) : error
  }
}

function messagesOf(error: unknown): Message[] {
  return error instanceof Error && 'errors' in error ? (error.errors as Message[]) : []
}

function toRefusal({ text, location }: Message): ApiError {
  return refusal(text, location && { file: sourceFile, line: location.line, column: location.column + 1 })
}

/** The error that says where uploaded code is at fault. */
export function refusal(problem: string, at: SourcePlace | null | undefined): ApiError {
  if (!at) return new ApiError('InvalidPayload', `${sourceFile}: ${problem}`, { metadata: { file: sourceFile } })
  return new ApiError('InvalidPayload', `${at.file}:${at.line}:${at.column}: ${problem}`, { metadata: { ...at } })
}

/** How the sandbox calls the script, in the stacks of errors. */
const scriptPosition = /\bbot\.js:(\d+):(\d+)/g

/** Rewrites the positions in an error's stack from the script to the author's own files. */
export function toSourceStack(stack: string, sourceMap: string): string {
  const places = toSource(stack, sourceMap)
  return stack.replaceAll(scriptPosition, () => {
    const { file, line, column } = places.shift()!
    return `${file}:${line}:${column}`
  })
}

/** The first position of the author's own code in an error's stack. */
export function firstPosition(stack: string, sourceMap: string): SourcePlace | undefined {
  return toSource(stack, sourceMap)[0]
}

/** Where the positions in a stack come from, in their order. */
function toSource(stack: string, sourceMap: string): SourcePlace[] {
  const places = Array.from(stack.matchAll(scriptPosition), ([, line, column]): Place => {
    return { line: Number(line), column: Number(column) }
  })
  const sources = sourceMap === '' ? [] : findSources(sourceMap, places)
  return places.map((place, index) => sources[index] ?? { file: sourceFile, ...place })
}

/** Where a name is first written in the source: good enough to lead to the declaration of a hook. */
export function positionOfName(source: string, name: string): SourcePlace | undefined {
  const index = source.search(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`))
  if (index < 0) return undefined
  const before = source.slice(0, index).split('\n')
  return { file: sourceFile, line: before.length, column: (before.at(-1) ?? '').length + 1 }
}
