import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Compiler } from '#sandbox/compiler/contract.ts'
import { FairQueue } from '#sandbox/programs/fair-queue.ts'
import { openCompiler } from '#sandbox/compiler/open-compiler.ts'
import { joinMap } from '#sandbox/compiler/source-text.ts'
import { bundlePrograms } from '#sandbox/host/programs.ts'
import { detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import { compilersOf } from '../../support/sandbox-processes.ts'

// Around the processes there are none of the kernel's isolation layers in all that follows, as where a machine allows none.
let compiler: Compiler
/** With so much time that it is memory that is used up. */
let patient: Compiler
let folder: string
const canary = 'canary in a coal mine'
const limits = { seconds: 2, memoryMegabytes: 400 }
beforeAll(async () => {
  const isolation = await detectIsolation({ profile: 'hardened', require: [], tools: {}, log() {} })
  const { reader } = await bundlePrograms()
  compiler = openCompiler({ isolation, reader, limits, log() {} })
  patient = openCompiler({ isolation, reader, limits: { ...limits, seconds: 30 }, log() {} })
  folder = mkdtempSync(join(tmpdir(), 'isobot-attack-'))
  mkdirSync(join(folder, 'words'))
  for (const name of ['secret.ts', 'secret.json', 'secret.css', 'package.json', 'tsconfig.json', 'words/canary.ts'])
    writeFileSync(join(folder, name), canary)
})
afterAll(async () => {
  await Promise.all([compiler.close(), patient.close()])
  rmSync(folder, { recursive: true })
})

const data = (text: string) => `data:application/json;base64,${Buffer.from(text).toString('base64')}`
const nested = (open: string, close: string, times = 200_000) =>
  `const a = ${open.repeat(times)}1${close.repeat(times)}`
const map = (fields: object) =>
  JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA', ...fields })
const started = async () => {
  await expect.poll(() => compilersOf(process.pid), { timeout: 20_000 }).not.toEqual([])
}

const compile = (source: string, sourceMap?: string) =>
  compiler.compile('attacker', async () => ({ source, sourceMap }))

describe('nothing of the file system gets into what is compiled', () => {
  test.each<[string, (folder: string) => string]>([
    ['a source map by its address', (at) => `export {}\n//# sourceMappingURL=file://${at}/secret.json`],
    ['a source map by its path', (at) => `export {}\n//# sourceMappingURL=${at}/secret.json`],
    ['a source map that never ends', () => 'export {}\n//# sourceMappingURL=file:///dev/zero'],
    ['a source map in a comment of the older kind', (at) => `export {}\n//@ sourceMappingURL=file://${at}/secret.json`],
    [
      'the sources of a source map',
      (at) =>
        joinMap(
          'export {}',
          JSON.stringify({ version: 3, sources: [`file://${at}/secret.ts`], names: [], mappings: 'AAAA' }),
        ),
    ],
    ['an import', (at) => `import { a } from '${at}/secret.ts'\nexport const b = a`],
    ['an import of data', (at) => `import a from '${at}/secret.json' with { type: 'json' }\nexport const b = a`],
    ['an import of text', (at) => `import a from '${at}/secret.ts' with { type: 'text' }\nexport const b = a`],
    ['an import of styles', (at) => `import '${at}/secret.css'\nexport {}`],
    ['an import from a package', (at) => `import a from '${at}'\nexport const b = a`],
    ['an import with a parameter', (at) => `import a from '${at}/secret.ts?raw'\nexport const b = a`],
    ['an import of what a template names', (at) => `export const a = (n: string) => import(\`${at}/\${n}.ts\`)`],
    ['what a template names anywhere', () => 'export const a = (n: string) => import(`/${n}/../proc/${n}`)'],
    ['a sum of names', (at) => `export const a = (n: string) => require('${at}/words/' + n + '.ts')`],
    ['require.resolve', (at) => `export const a = require.resolve('${at}/secret.ts')`],
    ['require.context', (at) => `export const a = require.context('${at}/words', true, /ts$/)`],
    ['import.meta.glob', (at) => `export const a = import.meta.glob('${at}/words/*.ts')`],
    ['an address beside the module', (at) => `export const a = new URL('${at}/secret.ts', import.meta.url)`],
    ['a worker', (at) => `export const a = new Worker(new URL('${at}/secret.ts', import.meta.url))`],
    ['a reference', (at) => `/// <reference path="${at}/secret.ts" />\nexport {}`],
    ['the source of JSX', (at) => `/** @jsxImportSource ${at} */ /** @jsxRuntime automatic */\nexport {}`],
    ['a data URL that imports', (at) => `import '${data(`import '${at}/secret.ts'`)}'\nexport {}`],
    ['another file by its address', (at) => `import a from 'file://${at}/secret.ts'\nexport const b = a`],
    ['an import of what TypeScript calls so', (at) => `import a = require('${at}/secret.ts')\nexport const b = a`],
  ])('by %s', async (_way, source) => {
    const result = await compile(source(folder))
    expect(result.status).not.toBe('exceeded')
    expect(JSON.stringify(result)).not.toContain('canary')
    expect(JSON.stringify(result)).not.toContain('cmdline')
  })

  test('nor into its error message', async () => {
    expect(await compile(`import '${folder}/words/missing.ts'\nconst = 1`)).toEqual({
      status: 'refused',
      problem: 'Expected identifier but found "="',
      at: { file: 'bot.ts', line: 2, column: 7 },
    })
  })
})

const memory = {
  status: 'exceeded',
  limit: 'memory',
  problem: expect.stringMatching(/^Compiling it takes more than 400 MB of memory \(COMPILE_MEMORY\): make the upload /),
}
const time = {
  status: 'exceeded',
  limit: 'time',
  problem: expect.stringMatching(
    /^Compiling it takes more than 2 s of processor time \(COMPILE_SECONDS\), or 5 s: make /,
  ),
}
const tooMuch = expect.objectContaining({ status: 'exceeded', problem: expect.stringContaining(': make the upload') })

/** Takes esbuild longer than any upload may take. */
const slow = `x = ${'(a<'.repeat(5000)}`

describe('an upload that takes too much is refused with the limit that it met', { timeout: 60_000 }, () => {
  test.each<[string, string, unknown]>([
    ['brackets', nested('[', ']'), memory],
    ['parentheses', nested('(', ')', 2_000_000), memory],
    ['blocks', `${'{'.repeat(2_000_000)}${'}'.repeat(2_000_000)}`, memory],
    ['functions', nested('()=>', '', 900_000), memory],
    ['templates', nested('`${', '}`'), memory],
    ['4 MB of decorators', `class A {${'@x a;'.repeat(800_000)}}`, memory],
    [
      'an enum that doubles',
      `enum E { a0 = 'xxxxxxxxxx', ${Array.from({ length: 40 }, (_, n) => `a${n + 1} = a${n} + a${n}`).join()} }`,
      memory,
    ],
    ['what is read again and again', slow, time],
    ['nested scopes', `${'{let x;x;'.repeat(30_000)}${'}'.repeat(30_000)}`, tooMuch],
  ])('%s', async (_what, source, expected) => {
    const used = expected === memory ? patient : compiler
    expect(await used.compile('attacker', async () => ({ source }))).toEqual(expected)
  })

  test.each<[string, string]>([
    ['nested deep', '{"a":'.repeat(3_000_000)],
    ['whose sources are nested deep', `{"version":3,"sources":${'['.repeat(4_000_000)}`],
    ['of sections in sections', '{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":'.repeat(100_000)],
    ['with 16 MB of mappings', map({ mappings: `AAAA${',CAAC'.repeat(3_000_000)}` })],
    ['with a million sources', map({ sources: Array.from({ length: 1_000_000 }, () => 'a') })],
    ['whose lines go back', map({ mappings: 'AAAA;AADA;AADA' })],
    [
      'that names what is in each object',
      '{"version":3,"__proto__":{"version":3},"sources":["a"],"mappings":"AAAA","names":[]}',
    ],
  ])('or compiled without harm: a source map %s', async (_how, sourceMap) => {
    for (const result of [
      await compile('export const a = 1', sourceMap),
      await compile(joinMap('export const a = 1', sourceMap)),
    ]) {
      expect(['compiled', 'refused', 'exceeded']).toContain(result.status)
    }
    expect((await compile('export const a = 1')).status).toBe('compiled')
  })
})

describe('processes that compile', { timeout: 60_000 }, () => {
  test('leave another owner’s uploads room while one owner’s many take all the time they may', async () => {
    const hostile = Array.from({ length: 4 }, () => compile(slow))
    await started()
    let ended = 0
    for (const each of hostile) void each.then(() => (ended += 1))
    const neighbour = await compiler.compile('neighbour', async () => ({ source: 'export const a = 1' }))
    expect(neighbour.status).toBe('compiled')
    expect(ended).toBeLessThan(hostile.length - 1)
    expect(await Promise.all(hostile)).toEqual([time, time, time, time])
  })

  test('are replaced when they are killed', async () => {
    const compiling = compile(`export const a = 1\n${'// a line that takes some time to read\n'.repeat(50_000)}`)
    await started()
    for (const pid of compilersOf(process.pid)) process.kill(pid, 'SIGKILL')
    expect((await compiling).status).toBe('compiled')
  })

  test('end when the compiler is closed, and their work is rejected with that reason', async () => {
    const isolation = await detectIsolation({ profile: 'hardened', require: [], log() {} })
    const { reader } = await bundlePrograms()
    const closing = openCompiler({ isolation, reader, log() {} })
    const compiling = closing.compile('attacker', async () => ({ source: slow }))
    const told = compiling.catch((error: unknown) => (error as Error).message)
    await started()
    await closing.close()
    expect(await told).toBe('The compiler is closing')
    expect(compilersOf(process.pid)).toEqual([])
  })
})

test('owners take turns, each with one job at a time, however many jobs one has', async () => {
  const queue = new FairQueue(2)
  const order: string[] = []
  const gates: (() => void)[] = []
  const job = (name: string) => () => {
    order.push(name)
    return new Promise<void>((resolve) => gates.push(resolve))
  }
  const jobs = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => queue.run(name[0]!, job(name)))
  while (order.length < jobs.length) {
    gates.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const open of gates) open()
  await Promise.all(jobs)
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})
