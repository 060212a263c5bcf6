import { createHash } from 'node:crypto'
import { SourceMap } from 'node:module'
import { build, type Message, type Plugin } from 'esbuild'
import { ApiError } from './errors.ts'
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
 * Compiles an uploaded module, TypeScript or JavaScript, to the script that the isolate runs. Nothing of it is run.
 *
 * @throws ApiError `InvalidPayload` naming file, line and column of the first error
 */
export async function compileBot(source: string): Promise<CompiledBot> {
  const { outputFiles, metafile } = await explained(
    build({
      ...input(source),
      // It names the files, of which none is written.
      outfile: 'bot.js',
      sourcemap: 'external',
      sourcesContent: false,
    }),
  )
  const output = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? ''
  return {
    kind: 'native',
    source,
    isCommonJs: metafile.inputs[sourceFile]?.format === 'cjs',
    hash: hashOf(source),
    script: output('.js'),
    sourceMap: output('.js.map'),
  }
}

/** A bundle of the public SDK is run as it is. */
export function asSdkBundle(source: string): CompiledBot {
  return { kind: 'sdk', source, isCommonJs: true, hash: hashOf(source), script: source, sourceMap: '' }
}

/** Everything that a bundle asks for stays outside of it. */
const external: Plugin = {
  name: 'external',
  setup(build) {
    build.onResolve({ filter: /.*/ }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path, external: true },
    )
  },
}

/**
 * The modules that a CommonJS bundle asks for by their names. It must have been compiled before, which finds what is
 * wrong with it.
 */
export async function importsOf(source: string): Promise<string[]> {
  try {
    const { metafile } = await build({ ...input(source), bundle: true, plugins: [external] })
    return metafile.inputs[sourceFile]?.imports.map(({ path }) => path) ?? []
  } catch {
    // It puts the path of a file together, which is perhaps never reached; if it is, the isolate says so.
    return []
  }
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
    const [first] = error instanceof Error && 'errors' in error ? (error.errors as Message[]) : []
    if (!first) throw error
    throw refusal(first.text, first.location && { line: first.location.line, column: first.location.column + 1 })
  }
}

interface Position {
  line: number
  column: number
}

/** The error that says where uploaded code is at fault. */
export function refusal(problem: string, at: Position | null | undefined): ApiError {
  if (!at) return new ApiError('InvalidPayload', `${sourceFile}: ${problem}`, { metadata: { file: sourceFile } })
  return new ApiError('InvalidPayload', `${sourceFile}:${at.line}:${at.column}: ${problem}`, {
    metadata: { file: sourceFile, ...at },
  })
}

/** How the sandbox calls the script, in the stacks of errors. */
const scriptPosition = /\bbot\.js:(\d+):(\d+)/g

/** Rewrites the positions in an error's stack from the script to the source. */
export function toSourceStack(stack: string, sourceMap: string): string {
  const map = readSourceMap(sourceMap)
  return stack.replaceAll(scriptPosition, (_position, line: string, column: string) => {
    const { line: sourceLine, column: sourceColumn } = toSource(map, { line: Number(line), column: Number(column) })
    return `${sourceFile}:${sourceLine}:${sourceColumn}`
  })
}

/** The first position of the author's own code in an error's stack. */
export function firstPosition(stack: string, sourceMap: string): Position | undefined {
  const [match] = stack.matchAll(scriptPosition)
  return match && toSource(readSourceMap(sourceMap), { line: Number(match[1]), column: Number(match[2]) })
}

function readSourceMap(json: string): SourceMap | undefined {
  if (json === '') return undefined
  return new SourceMap(JSON.parse(json) as ConstructorParameters<typeof SourceMap>[0])
}

function toSource(map: SourceMap | undefined, position: Position): Position {
  const origin = map?.findOrigin(position.line, position.column)
  return origin && 'lineNumber' in origin ? { line: origin.lineNumber, column: origin.columnNumber } : position
}

/** Where a name is first written in the source: good enough to lead to the declaration of a hook. */
export function positionOfName(source: string, name: string): Position | undefined {
  const index = source.search(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`))
  if (index < 0) return undefined
  const before = source.slice(0, index).split('\n')
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}
