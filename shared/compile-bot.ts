import { createHash } from 'node:crypto'
import { SourceMap } from 'node:module'
import { transform, type Message } from 'esbuild'
import { ApiError } from './errors.ts'

/** How an uploaded module is called in errors. */
const sourceFile = 'bot.ts'

export interface CompiledBot {
  source: string
  /** SHA-256 of the source, in hexadecimal. */
  hash: string
  /** What the isolate runs: the module as a CommonJS script. */
  script: string
  /** JSON that leads positions of the script back to the source. */
  sourceMap: string
}

/**
 * Compiles an uploaded module, TypeScript or JavaScript, to the script that the isolate runs. Nothing of it is run.
 *
 * @throws ApiError `InvalidPayload` naming file, line and column of the first error
 */
export async function compileBot(source: string): Promise<CompiledBot> {
  try {
    const { code, map } = await transform(source, {
      loader: 'ts',
      format: 'cjs',
      target: 'es2024',
      sourcefile: sourceFile,
      sourcemap: 'external',
      sourcesContent: false,
      logLevel: 'silent',
    })
    return { source, hash: createHash('sha256').update(source).digest('hex'), script: code, sourceMap: map }
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

function readSourceMap(json: string): SourceMap {
  return new SourceMap(JSON.parse(json) as ConstructorParameters<typeof SourceMap>[0])
}

function toSource(map: SourceMap, position: Position): Position {
  const origin = map.findOrigin(position.line, position.column)
  return 'lineNumber' in origin ? { line: origin.lineNumber, column: origin.columnNumber } : position
}

/** Where a name is first written in the source: good enough to lead to the declaration of a hook. */
export function positionOfName(source: string, name: string): Position | undefined {
  const index = source.search(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`))
  if (index < 0) return undefined
  const before = source.slice(0, index).split('\n')
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}
