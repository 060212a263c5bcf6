/** A position in a text; line and column count from 1. */
export interface Position {
  line: number
  column: number
}

export interface SourcePosition extends Position {
  /** The file's name in the source map, relative to the author's folder. */
  file: string
}

/** A source map, indexed so that one position is found without reading the others. */
export interface SourceMapIndex {
  sources: string[]
  /**
   * The index in `segments` of each generated line's first segment, and of the end of the last line, counted in
   * segments.
   */
  lines: Int32Array
  /**
   * Four numbers per segment: its column, then source, line and column of the original, counted from 0; source -1 when
   * there is no original.
   */
  segments: Int32Array
}

const segmentNumbers = 4
const maxSegments = 2_000_000
const maxSources = 20_000
const sourceCharacters = 1000
const fileCharacters = 200

/**
 * Reads an untrusted source map. Time and memory are proportional to the map's length, which the caller has to bound.
 *
 * @returns undefined when it is not a source map, or is larger than any map of 4 MB of code
 */
export function indexSourceMap(json: string): SourceMapIndex | undefined {
  const map = readSourceMap(json)
  if (map === undefined) return undefined
  const size = sizeOf(map.mappings)
  return size && { sources: map.sources, ...readMappings(map.mappings, size) }
}

/** @returns the parts of a source map that positions need; undefined when it is not a source map */
export function readSourceMap(json: string): { version: 3; sources: string[]; mappings: string } | undefined {
  try {
    const { version, sources, mappings } = JSON.parse(json) as Record<string, unknown>
    if (version !== 3 || typeof mappings !== 'string' || !Array.isArray(sources)) return undefined
    if (sources.length > maxSources) return undefined
    return { version, sources: sources.map((source) => String(source).slice(0, sourceCharacters)), mappings }
  } catch {
    return undefined
  }
}

/** Finds the original of a position in the generated script; undefined where the map has none. */
export function findSource(
  { sources, lines, segments }: SourceMapIndex,
  position: Position,
): SourcePosition | undefined {
  const column = position.column - 1
  let low = lines[position.line - 1] ?? 0
  let high = lines[position.line] ?? 0
  const first = low
  // Find the last segment of the line that begins at or before the column.
  while (low < high) {
    const middle = (low + high) >>> 1
    if (segments[middle * segmentNumbers]! <= column) low = middle + 1
    else high = middle
  }
  if (low === first) return undefined
  const [, source = -1, sourceLine = -1, sourceColumn = -1] = segments.subarray((low - 1) * segmentNumbers)
  const name = sources[source]
  if (name === undefined || sourceLine < 0 || sourceColumn < 0) return undefined
  return { file: toFile(name), line: sourceLine + 1, column: sourceColumn + 1 }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digitBits = 5
const continues = 1 << digitBits
const comma = ','.charCodeAt(0)
const semicolon = ';'.charCodeAt(0)

const lastCode = 127
const valueOfCode = new Int8Array(lastCode + 1)
for (let value = 0; value < digits.length; value += 1) valueOfCode[digits.charCodeAt(value)] = value

interface Size {
  segments: number
  lines: number
}

/** An upper bound of the segments and lines in the mappings; undefined beyond the limit. */
function sizeOf(mappings: string): Size | undefined {
  const size = { segments: 1, lines: 1 }
  for (let index = 0; index < mappings.length; index += 1) {
    const code = mappings.charCodeAt(index)
    if (isSeparator(code)) size.segments += 1
    if (code === semicolon) size.lines += 1
  }
  return size.segments > maxSegments ? undefined : size
}

function readMappings(mappings: string, size: Size): Pick<SourceMapIndex, 'lines' | 'segments'> {
  const lines = new Int32Array(size.lines + 1)
  const segments = new Int32Array(size.segments * segmentNumbers)
  // Each number is relative to the previous one of its kind: column, source, line and column in the source, name.
  const sums = new Int32Array(5)
  let line = 0
  let count = 0
  let index = 0
  while (index < mappings.length) {
    const code = mappings.charCodeAt(index)
    if (code === semicolon) {
      line += 1
      lines[line] = count
      sums[0] = 0
    }
    if (isSeparator(code)) {
      index += 1
      continue
    }
    let fields = 0
    for (; index < mappings.length && !isSeparator(mappings.charCodeAt(index)); fields += 1) {
      let value = 0
      let shift = 0
      let digit = continues
      while (digit & continues && index < mappings.length) {
        digit = valueOfCode[mappings.charCodeAt(index) & lastCode]!
        value |= (digit & (continues - 1)) << shift
        shift += digitBits
        index += 1
      }
      if (fields < sums.length) sums[fields]! += value & 1 ? -(value >>> 1) : value >>> 1
    }
    const isInOrder = count === lines[line] || segments[(count - 1) * segmentNumbers]! <= sums[0]!
    // Only in a damaged map do columns decrease within a line.
    if (!isInOrder) continue
    segments.set(
      fields >= segmentNumbers ? sums.subarray(0, segmentNumbers) : [sums[0]!, -1, -1, -1],
      count * segmentNumbers,
    )
    count += 1
  }
  lines[line + 1] = count
  return { lines, segments: segments.slice(0, count * segmentNumbers) }
}

function isSeparator(code: number): boolean {
  return code === comma || code === semicolon
}

/**
 * Strips the prefixes that bundlers add to a source's name: `../src/hooks/foo.ts` and
 * `webpack://bot/./src/hooks/foo.ts` become `src/hooks/foo.ts`.
 */
export function toFile(source: string): string {
  return source
    .replace(/^[\w+.-]+:\/\/[^/]*\//, '')
    .replace(/^(?:\.{1,2}\/)+/, '')
    .replace(/[\p{Cc}\s()]/gu, '_')
    .slice(0, fileCharacters)
}

/** File name of uploaded code where no source map names the original files. */
export const sourceFile = 'bot.ts'

/** Positions in the script, which the sandbox calls `bot.js`, in the stacks of errors. */
const scriptPosition = /\bbot\.js:(\d+):(\d+)/g

/** Rewrites the positions in an error's stack from the script to the original files. */
export function toSourceStack(stack: string, index: SourceMapIndex | undefined): string {
  return stack.replaceAll(scriptPosition, (_position, line: string, column: string) => {
    const position = toSource(index, Number(line), Number(column))
    return `${position.file}:${position.line}:${position.column}`
  })
}

/** The first position in an error's stack that is in the author's code. */
export function firstPosition(stack: string, index: SourceMapIndex | undefined): SourcePosition | undefined {
  const [, line, column] = new RegExp(scriptPosition.source).exec(stack) ?? []
  return line === undefined ? undefined : toSource(index, Number(line), Number(column))
}

function toSource(index: SourceMapIndex | undefined, line: number, column: number): SourcePosition {
  return (index && findSource(index, { line, column })) ?? { file: sourceFile, line, column }
}

/** Finds the first occurrence of a name in the source, which is usually close enough to the declaration of a hook. */
export function positionOfName(source: string, name: string): SourcePosition | undefined {
  const index = source.search(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`))
  if (index < 0) return undefined
  const before = source.slice(0, index).split('\n')
  return { file: sourceFile, line: before.length, column: (before.at(-1) ?? '').length + 1 }
}
