import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { findSource, indexSourceMap, readSourceMap, type Position } from '#sandbox/compiler/source-map.ts'

/** Where places of a script come from. */
function findSources(map: string, positions: Position[]) {
  const index = indexSourceMap(map)
  return positions.map((position) => index && findSource(index, position))
}

describe('places of a minified script', () => {
  const source = readFileSync(join(import.meta.dirname, '..', '..', 'support', 'platform.ts'), 'utf8')
  const { code, map } = transformSync(source, {
    loader: 'ts',
    minify: true,
    sourcemap: true,
    sourcefile: 'platform.ts',
  })
  const positions = code
    .split('\n')
    .flatMap((text, index) =>
      Array.from({ length: text.length }, (_, column) => ({ line: index + 1, column: column + 1 })),
    )

  test('lead where Node’s own reader of source maps says', () => {
    const oracle = new SourceMap(JSON.parse(map) as SourceMapPayload)
    const expected = positions.map(({ line, column }) => {
      const entry = oracle.findEntry(line - 1, column - 1)
      if (!('originalSource' in entry)) return undefined
      return { file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 }
    })
    expect(positions.length).toBeGreaterThan(1000)
    expect(findSources(map, positions)).toEqual(expected)
  })

  test('lead to the same in any order of the requests', () => {
    const reversed = positions.toReversed()
    expect(findSources(map, reversed).toReversed()).toEqual(findSources(map, positions))
  })
})

const wordsOf = (map: object) => JSON.stringify({ version: 3, sources: ['a.ts'], mappings: 'AAAA', ...map })

test.each<[string, string]>([
  ['nested deep', '['.repeat(1_000_000)],
  ['whose sources are nested deep', `{"version":3,"mappings":"","sources":[${'['.repeat(9000)}${']'.repeat(9000)}]}`],
  ['with more sources than a bundle has', wordsOf({ sources: Array.from({ length: 100_000 }, () => 'a.ts') })],
  ['with more mappings than 4 MB of code have', wordsOf({ mappings: ',CAAC'.repeat(3_000_000) })],
  ['of sections', JSON.stringify({ version: 3, sections: [{ offset: { line: 0, column: 0 }, map: { version: 3 } }] })],
  ['whose sources are an object', wordsOf({ sources: { length: 5 } })],
  ['whose mappings are none', wordsOf({ mappings: null })],
])('a map %s leads nowhere', (_how, map) => {
  expect(findSources(map, [{ line: 1, column: 1 }])).toEqual([undefined])
})

test.each<[string, string]>([
  ['to a source before the first', 'ADAA'],
  ['to a line before the first', 'AADA'],
  ['to a column before the first', 'AAAD'],
  ['to a source beyond all numbers', 'A+/////////////AA'],
])('a map that leads %s leads nowhere', (_where, mappings) => {
  expect(findSources(wordsOf({ mappings }), [{ line: 1, column: 1 }])).toEqual([undefined])
})

test('a map whose columns go back leads from the first on', () => {
  expect(findSources(wordsOf({ mappings: 'KAAK,JAAJ' }), [{ line: 1, column: 6 }])).toEqual([
    { file: 'a.ts', line: 1, column: 6 },
  ])
})

test('keys of prototypes in a map are names like others', () => {
  const map = '{"version":3,"__proto__":{"mappings":"AAAA"},"sources":["__proto__","constructor"],"mappings":"ACAA"}'
  expect(findSources(map, [{ line: 1, column: 1 }])).toEqual([{ file: 'constructor', line: 1, column: 1 }])
})

/** Line 1 is not mapped; column 1 of line 2 leads to line 1 of the only source. */
const mappings = ';AAAA'

test.each([
  ['../src/hooks/foo.ts', 'src/hooks/foo.ts'],
  ['./foo.ts', 'foo.ts'],
  ['webpack://my-bot/./src/foo.ts', 'src/foo.ts'],
  ['file:///home/ann/bot/src/foo.ts', 'home/ann/bot/src/foo.ts'],
  ['foo\nINFO all is well (really).ts', 'foo_INFO_all_is_well__really_.ts'],
  ['\u001b[31mred', '_[31mred'],
  ['x'.repeat(1000), 'x'.repeat(200)],
])('the source %j is called %j', (source, file) => {
  const map = JSON.stringify({ version: 3, sources: [source], mappings })
  expect(findSources(map, [{ line: 2, column: 5 }])).toEqual([{ file, line: 1, column: 1 }])
})

test('a place that the map does not lead from leads nowhere', () => {
  const map = JSON.stringify({ version: 3, sources: ['a.ts'], mappings })
  const positions = [1, 3].map((line) => ({ line, column: 1 }))
  expect(findSources(map, [...positions, { line: 2, column: 1 }])).toEqual([
    undefined,
    undefined,
    { file: 'a.ts', line: 1, column: 1 },
  ])
})

test.each([['!!!!'], ['AAAAAAAAAAAA'], ['g'], ['gggggggggggggg'], ['ASAA'], [','.repeat(100)], ['é;é'], ['AAAA,A']])(
  'the mappings %j, which are damaged or lead to no source, do no harm',
  (damaged) => {
    const map = JSON.stringify({ version: 3, sources: ['a.ts'], mappings: damaged })
    expect(() => findSources(map, [{ line: 1, column: 1 }])).not.toThrow()
  },
)

test('nothing but sources and mappings is kept of a map', () => {
  const given = { version: 3, sources: ['a.ts'], sourcesContent: ['secret'], names: ['x'], mappings, file: 'b' }
  expect(readSourceMap(JSON.stringify(given))).toEqual({ version: 3, sources: ['a.ts'], mappings })
})
