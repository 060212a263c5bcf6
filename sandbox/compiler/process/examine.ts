import { findSource, indexSourceMap, readSourceMap, toFile, type Position, type SourceMapIndex } from '../source-map.ts'
import type { ImportedName, SourceFile } from '../contract.ts'
import { moduleMark } from '../esbuild.ts'
import { splitMap } from '../source-text.ts'
import { parse, type Import } from 'es-module-lexer/js'
import { replaceImports } from './replace-imports.ts'

interface ExaminationInput {
  /** The name that replaces `require` in `scanned`; random, so the source cannot contain it. */
  nonce: string
  source: string
  /** Source map as JSON; empty where the upload has no separate one. */
  sourceMap: string
  /** The source as a CommonJS script, with its source map. */
  compiled: string
  /** The source as an ES module, with its source map. */
  scanned: string
}

export interface Examined {
  /** False when the upload has a separate source map that is not valid. */
  isMapRead: boolean
  /** Whether the source is an ES module, by its imports and exports. */
  isModule: boolean
  imports: ImportedName[]
  files: SourceFile[]
}

/**
 * Extracts from the compiler's output the parts that are stored.
 *
 * @returns `scripts`: the compiled script and its source map
 */
export function examine(given: ExaminationInput): Examined & { scripts: string[] } {
  const { source, sourceMap } = given
  const compiled = splitMap(given.compiled)
  const scanned = splitMap(given.scanned)
  const ownMap = sourceMap || splitMap(source).carried
  const isMapRead = sourceMap === '' || readSourceMap(sourceMap) !== undefined
  const isModule = scanned.code.includes(moduleMark(given.nonce))
  const imports = findImports(scanned, given)
  // A module is strict code. The compiled script begins with a line of the compiler's own, which holds no position of
  // the source, so the directive shifts none.
  const scripts = [(isModule ? `'use strict';` : '') + compiled.code, toKept(compiled.carried)]
  return { isMapRead, isModule, imports, files: findFiles(ownMap), scripts }
}

/**
 * Reads a source that is to run as it is, but for its `import()`. Whether it is an ES module after all, its evaluation tells: a
 * lexer without a JIT takes 5 s for a bundle of 14 MB.
 *
 * @returns undefined when its separate source map is not valid
 */
export function readAsIs(source: string, sourceMap: string): { files: SourceFile[]; scripts: string[] } | undefined {
  const asIs = splitMap(source)
  const ownMap = sourceMap || asIs.carried
  if (sourceMap !== '' && readSourceMap(sourceMap) === undefined) return undefined
  return { files: findFiles(ownMap), scripts: [replaceImports(asIs.code), toKept(ownMap)] }
}

/** Reduces a source map to the parts that positions need; empty when the map is not valid. */
function toKept(sourceMap: string): string {
  return indexSourceMap(sourceMap) === undefined ? '' : JSON.stringify(readSourceMap(sourceMap))
}

const maxImports = 100

function findImports(
  { code, carried }: { code: string; carried: string },
  { source, nonce }: ExaminationInput,
): ImportedName[] {
  const found = new Map<string, number>()
  const add = (name: string | undefined, index: number) => {
    if (name !== undefined && found.size < maxImports && !found.has(name)) found.set(name, index)
  }
  for (const each of lex(code)) {
    if (each.type === 'import-meta' || (each.type === 'dynamic' && each.glob)) continue
    add(each.specifier, each.type === 'dynamic' ? each.start : each.start - 1)
  }
  for (const { name, index } of findRequires(code, nonce)) add(name, index)
  const map = found.size === 0 ? undefined : indexSourceMap(carried)
  const text = openText(source)
  const imports = Array.from(found, ([name, index]) => ({
    name,
    ...toSource(openText(code).positionOf(index), map, text),
  }))
  return imports.toSorted((a, b) => a.line - b.line || a.column - b.column)
}

/** Empty when the lexer rejects the code: the isolate then reports missing modules at run time. */
function lex(code: string): readonly Import[] {
  try {
    return parse(code)[0]
  } catch {
    return []
  }
}

/** Finds `require` and `require.resolve` with a literal name, where the source does not declare `require` itself. */
function findRequires(code: string, nonce: string) {
  const pattern = new RegExp(`\\b${nonce}(?:\\.resolve)?\\(("(?:[^"\\\\\\n]|\\\\.){0,500}")\\)`, 'g')
  return Array.from(code.matchAll(pattern), ({ 0: call, 1: literal, index }) => ({
    name: readLiteral(literal!),
    index: index + call.length - literal!.length - 1,
  }))
}

function readLiteral(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string
  } catch {
    return undefined
  }
}

interface Text {
  positionOf(index: number): Position
  /** The position of the first quotation mark at or after a position. */
  literalFrom(position: Position): Position
}

const literalCharacters = 500

function openText(text: string): Text {
  const starts = [0]
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) starts.push(index + 1)
  const positionOf = (index: number): Position => {
    let low = 0
    for (let high = starts.length; high - low > 1;) {
      const middle = (low + high) >>> 1
      if (starts[middle]! <= index) low = middle
      else high = middle
    }
    return { line: low + 1, column: index - starts[low]! + 1 }
  }
  return {
    positionOf,
    literalFrom({ line, column }) {
      const from = (starts[line - 1] ?? 0) + column - 1
      const offset = text.slice(from, from + literalCharacters).search(/["'`]/)
      return offset < 0 ? { line, column } : positionOf(from + offset)
    },
  }
}

function toSource(position: Position, map: SourceMapIndex | undefined, source: Text): Position {
  const found = map && findSource(map, position)
  return found ? source.literalFrom({ line: found.line, column: found.column }) : { line: 1, column: 1 }
}

const maxFiles = 500
const filesCharacters = 2 * 1024 * 1024

/** The author's files whose contents are in the source map. */
function findFiles(sourceMap: string): SourceFile[] {
  const files = new Map<string, string>()
  let left = filesCharacters
  for (const { path, content } of contentsOf(sourceMap)) {
    if (content.length > left || files.size >= maxFiles) break
    if (/(?:^|\/)node_modules\//.test(path) || files.has(path)) continue
    files.set(path, content)
    left -= content.length
  }
  return Array.from(files, ([path, content]) => ({ path, content }))
}

function* contentsOf(sourceMap: string): Generator<SourceFile> {
  const sources = readSourceMap(sourceMap)?.sources
  if (sources === undefined) return
  const { sourcesContent } = JSON.parse(sourceMap) as { sourcesContent?: unknown }
  if (!Array.isArray(sourcesContent)) return
  for (const [index, source] of sources.entries()) {
    const content: unknown = sourcesContent[index]
    // PostgreSQL stores neither U+0000 nor lone surrogates.
    if (typeof content === 'string')
      yield { path: toFile(source).toWellFormed(), content: content.toWellFormed().replaceAll('\0', '') }
  }
}
