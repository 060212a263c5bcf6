/** A place in a text; line and column count from 1. */
export interface Place {
  line: number
  column: number
}

export interface SourcePlace extends Place {
  /** As the source map calls it, from the author's folder on. */
  file: string
}

interface SourceMap {
  sources: string[]
  mappings: string
}

const fileCharacters = 200

/**
 * Reads a source map of somebody else's.
 *
 * @returns the same as JSON with what places need and no more; undefined when it is none
 */
export function readSourceMap(json: string): string | undefined {
  try {
    const { version, sources, mappings } = JSON.parse(json) as Record<string, unknown>
    if (version !== 3 || typeof mappings !== 'string' || !Array.isArray(sources)) return undefined
    return JSON.stringify({ version, sources: sources.map(String), mappings })
  } catch {
    return undefined
  }
}

/**
 * Leads places of a generated script back to its sources. The mappings are read once and nothing of them is kept: a
 * worker does this for whatever bot fails, with maps of any size, while others wait.
 *
 * @param json a source map that `readSourceMap` or esbuild made
 * @returns for each place where it comes from; undefined where the map does not say
 */
export function findSources(json: string, places: Place[]): (SourcePlace | undefined)[] {
  const { sources, mappings } = JSON.parse(json) as SourceMap
  const found: (Segment | undefined)[] = places.map(() => undefined)
  const inOrder = [...places.keys()].toSorted((a, b) => places[a]!.column - places[b]!.column)
  const wanted = Map.groupBy(inOrder, (index) => places[index]!.line)
  readSegments(mappings, wanted, { places, found })
  return found.map((segment) => {
    const source = segment && sources[segment.source]
    if (source === undefined) return undefined
    return { file: toFile(source), line: segment!.line, column: segment!.column }
  })
}

interface Segment extends Place {
  /** Its index among the sources. */
  source: number
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digitBits = 5
const continues = 1 << digitBits
const comma = ','.charCodeAt(0)
const semicolon = ';'.charCodeAt(0)

const lastCode = 127
const valueOfCode = new Int8Array(lastCode + 1)
for (let value = 0; value < digits.length; value += 1) valueOfCode[digits.charCodeAt(value)] = value

/**
 * Finds for each place the last segment of its line that begins no later. Nothing is made for a segment that is passed by:
 * there may be millions.
 *
 * @param wanted of each line, the places by their index, from left to right
 */
function readSegments(
  mappings: string,
  wanted: Map<number, number[]>,
  { places, found }: { places: Place[]; found: (Segment | undefined)[] },
): void {
  const lastLine = Math.max(0, ...wanted.keys())
  let line = 1
  let here = wanted.get(line) ?? []
  let next = 0
  // Each number is the difference to the one before of its kind: column, source, line and column in it, name.
  const sums = [0, 0, 0, 0, 0]
  let isMapped = false
  /** Gives the last segment to the places on its right and before a column. */
  const give = (before: number) => {
    for (; next < here.length && places[here[next]!]!.column < before; next += 1) {
      const [, source, sourceLine, sourceColumn] = sums as [number, number, number, number]
      found[here[next]!] = isMapped ? { source, line: sourceLine + 1, column: sourceColumn + 1 } : undefined
    }
  }

  let index = 0
  while (index < mappings.length && line <= lastLine) {
    const code = mappings.charCodeAt(index)
    if (code === semicolon) {
      give(Infinity)
      isMapped = false
      line += 1
      here = wanted.get(line) ?? []
      next = 0
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
      const difference = value & 1 ? -(value >>> 1) : value >>> 1
      // The column comes first: what was read before this segment ends there.
      if (fields === 0) give(sums[0]! + difference + 1)
      if (fields < sums.length) sums[fields]! += difference
    }
    isMapped = fields >= 4
  }
  give(Infinity)
}

function isSeparator(code: number): boolean {
  return code === comma || code === semicolon
}

/** `../src/hooks/foo.ts`, or `webpack://bot/./src/hooks/foo.ts`, as the author knows it. */
function toFile(source: string): string {
  return source
    .replace(/^[\w+.-]+:\/\/[^/]*\//, '')
    .replace(/^(?:\.{1,2}\/)+/, '')
    .replace(/[\p{Cc}\s()]/gu, '_')
    .slice(0, fileCharacters)
}
