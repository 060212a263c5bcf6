import { expect, test } from 'vitest'
import { findSource } from '#sandbox/compiler/source-map.ts'
import { openSourceMaps } from '../../../worker/code/source-maps.ts'
import { compilerHere } from '../../support/compiler.ts'
import type { Code } from '../../../worker/code/bundles.ts'

/** The source maps of a worker, with the number of maps that were read. */
async function openCounting() {
  const compiler = await compilerHere()
  const count = { reads: 0 }
  const sourceMaps = openSourceMaps({
    readSourceMap(...asked) {
      count.reads += 1
      return compiler.readSourceMap(...asked)
    },
  })
  return { sourceMaps, count }
}

function codeWith(codeId: string, sourceMap: string): Code {
  return { bundle: { botId: 'bot', codeId }, sourceMap } as Code
}

const mapOf = (fields: object) => JSON.stringify({ version: 3, sources: ['a.ts'], mappings: 'AAAA', ...fields })
const position = { line: 1, column: 1 }

test('a map is read once, however many failures need it, and each upload’s is its own', async () => {
  const { sourceMaps, count } = await openCounting()
  const [first, second] = [codeWith('one', mapOf({})), codeWith('two', mapOf({ sources: ['b.ts'] }))]
  const found = await Promise.all([first, first, second, first].map((code) => sourceMaps.of(code)))
  found.push(await sourceMaps.of(first))
  expect(found.map((index) => findSource(index!, position)?.file)).toEqual(['a.ts', 'a.ts', 'b.ts', 'a.ts', 'a.ts'])
  expect(count.reads).toBe(2)
})

test('a map that cannot be read is not tried again at each failure', async () => {
  const { sourceMaps, count } = await openCounting()
  const hostile = codeWith('hostile', mapOf({ mappings: ',CAAC'.repeat(3_000_000) }))
  expect(await sourceMaps.of(hostile)).toBeUndefined()
  expect(await sourceMaps.of(hostile)).toBeUndefined()
  expect(count.reads).toBe(1)
})

test('code without a map has none read', async () => {
  const { sourceMaps, count } = await openCounting()
  expect(await sourceMaps.of(codeWith('plain', ''))).toBeUndefined()
  expect(count.reads).toBe(0)
})

test('while a large map is read, the worker goes on with what others wait for', async () => {
  const { sourceMaps } = await openCounting()
  // The most that 4 MB of code have.
  const reading = sourceMaps.of(codeWith('large', mapOf({ mappings: `AAAA${',CAAC'.repeat(1_900_000)}` })))
  let turns = 0
  const timer = setInterval(() => (turns += 1), 5)
  const index = await reading
  clearInterval(timer)
  expect(findSource(index!, { line: 1, column: 1_000_001 })).toEqual({ file: 'a.ts', line: 1, column: 1_000_001 })
  // Read by the worker itself, it would have none.
  expect(turns).toBeGreaterThan(5)
})
