/** A place in a text; line and column count from 1. */
export interface Place {
  line: number
  column: number
}

export interface SourcePlace extends Place {
  /** As the source map calls it, from the author's folder on. */
  file: string
}

/** A source map in a form in which a place is found without reading the others. */
export interface SourceMapIndex {
  sources: string[]
  /** Where each generated line begins in `segments`, and where the last one ends, counted in segments. */
  lines: Int32Array
  /** Per segment: its column, then source, line and column that it leads to, counted from 0; source -1 for nowhere. */
  segments: Int32Array
}

const segmentNumbers = 4
const maxSegments = 2_000_000
const maxSources = 20_000
const sourceCharacters = 1000
const fileCharacters = 200

/**
 * Reads a source map of somebody else's. It takes time and memory in proportion to the map's length, which the caller
 * has to bound.
 *
 * @returns undefined when it is none, or is larger than any that 4 MB of code have
 */
export function indexSourceMap(json: string): SourceMapIndex | undefined {
  const map = readSourceMap(json)
  if (map === undefined) return undefined
  const size = sizeOf(map.mappings)
  return size && { sources: map.sources, ...readMappings(map.mappings, size) }
}

/** @returns the parts of a source map that places need; undefined when it is none */
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

/** Where a place of the generated script comes from; undefined where the map does not say. */
export function findSource({ sources, lines, segments }: SourceMapIndex, place: Place): SourcePlace | undefined {
  const column = place.column - 1
  let low = lines[place.line - 1] ?? 0
  let high = lines[place.line] ?? 0
  const first = low
  // The last segment of the line that begins no later.
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

/** An upper bound of what is in the mappings; undefined when it is too much. */
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
  // Each number is the difference to the one before of its kind: column, source, line and column in it, name.
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
    // Only a damaged map goes back within a line.
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

/** `../src/hooks/foo.ts`, or `webpack://bot/./src/hooks/foo.ts`, as the author knows it. */
export function toFile(source: string): string {
  return source
    .replace(/^[\w+.-]+:\/\/[^/]*\//, '')
    .replace(/^(?:\.{1,2}\/)+/, '')
    .replace(/[\p{Cc}\s()]/gu, '_')
    .slice(0, fileCharacters)
}

/** How uploaded code is called where nothing leads on to the files that it was made of. */
export const sourceFile = 'bot.ts'

/** How the sandbox calls the script, in the stacks of errors. */
const scriptPosition = /\bbot\.js:(\d+):(\d+)/g

/** Rewrites the positions in an error's stack from the script to the author's own files. */
export function toSourceStack(stack: string, index: SourceMapIndex | undefined): string {
  return stack.replaceAll(scriptPosition, (_position, line: string, column: string) => {
    const place = toSource(index, Number(line), Number(column))
    return `${place.file}:${place.line}:${place.column}`
  })
}

/** The first position of the author's own code in an error's stack. */
export function firstPosition(stack: string, index: SourceMapIndex | undefined): SourcePlace | undefined {
  const [, line, column] = new RegExp(scriptPosition.source).exec(stack) ?? []
  return line === undefined ? undefined : toSource(index, Number(line), Number(column))
}

function toSource(index: SourceMapIndex | undefined, line: number, column: number): SourcePlace {
  return (index && findSource(index, { line, column })) ?? { file: sourceFile, line, column }
}

/** Where a name is first written in the source: good enough to lead to the declaration of a hook. */
export function positionOfName(source: string, name: string): SourcePlace | undefined {
  const index = source.search(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`))
  if (index < 0) return undefined
  const before = source.slice(0, index).split('\n')
  return { file: sourceFile, line: before.length, column: (before.at(-1) ?? '').length + 1 }
}
