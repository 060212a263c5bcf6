import { beforeEach, describe, expect, test } from 'vitest'
import type { Compilation, Upload } from '#sandbox/compiler/contract.ts'
import { keepCompilations } from '#sandbox/compiler/keep-compilations.ts'

/** Uploads in the order in which they were compiled. */
let compiled: Upload[]
let status: 'compiled' | 'refused' | 'exceeded'
let compileOnce: (upload: Upload) => Promise<Compilation>

beforeEach(() => {
  compiled = []
  status = 'compiled'
  compileOnce = keepCompilations(async (upload) => {
    compiled.push(upload)
    if (status === 'refused') return { status, problem: upload.source }
    if (status === 'exceeded') return { status, problem: upload.source, limit: 'time' }
    return { status, native: { code: upload.source, sourceMap: '' }, isModule: true, imports: [], files: [] }
  })
})

test('the same code is compiled once, and has the same result', async () => {
  const first = await compileOnce({ source: 'one' })
  expect(await compileOnce({ source: 'one' })).toEqual(first)
  expect(compiled).toHaveLength(1)
})

describe('an upload is compiled for itself', () => {
  test.each<[string, Upload, Upload]>([
    ['of other code', { source: 'one' }, { source: 'two' }],
    ['with another source map', { source: 'one', sourceMap: '{}' }, { source: 'one', sourceMap: '[]' }],
    ['with other flows', { source: 'one', flows: 'a' }, { source: 'one', flows: 'b' }],
    [
      'whose parts have the same text elsewhere',
      { source: 'one', sourceMap: 'two' },
      { source: 'on', sourceMap: 'etwo' },
    ],
    ['whose flows are the source map of another', { source: 'one', flows: 'two' }, { source: 'one', sourceMap: 'two' }],
  ])('%s', async (_title, one, other) => {
    await compileOnce(one)
    await compileOnce(other)
    expect(compiled).toEqual([one, other])
  })
})

test('code that is refused is refused again without compiling it', async () => {
  status = 'refused'
  expect(await compileOnce({ source: 'bad' })).toEqual(await compileOnce({ source: 'bad' }))
  expect(compiled).toHaveLength(1)
})

test('code that exceeded a limit is compiled again', async () => {
  status = 'exceeded'
  await compileOnce({ source: 'slow' })
  status = 'compiled'
  expect(await compileOnce({ source: 'slow' })).toMatchObject({ status: 'compiled' })
})

test('large results push out the oldest ones, and large uploads are not kept', async () => {
  const sources = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(1000 * 1000)}`)
  for (const source of sources) await compileOnce({ source })
  await compileOnce({ source: sources[0]! })
  expect(compiled).toHaveLength(21)
  const large = { source: 'x'.repeat(2 * 1024 * 1024) }
  await compileOnce(large)
  await compileOnce(large)
  expect(compiled).toHaveLength(23)
})
