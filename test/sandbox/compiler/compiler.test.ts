import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { buildSync } from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { refusedImport } from '#sandbox/compiler/refused-import.ts'
import { firstPosition, indexSourceMap, positionOfName, toSourceStack } from '#sandbox/compiler/source-map.ts'
import { CompilerError } from '#sandbox/compiler/contract.ts'
import { compile, compilerHere, openCompilerOf, tryToCompile } from '../../support/compiler.ts'

/** A module as it is compiled, and the way back. */
async function compileBot(source: string, sourceMap?: string) {
  const { native, isModule } = await compile(source, sourceMap)
  return { isModule, script: native.code, sourceMap: indexSourceMap(native.sourceMap) }
}

/** A bundle of the SDK as it is run. */
async function asSdkBundle(source: string, sourceMap?: string) {
  const read = await (await compilerHere()).readBundle('test', async () => ({ source, sourceMap }))
  return { script: read!.script.code, sourceMap: indexSourceMap(read!.script.sourceMap) }
}

describe('compiled code', () => {
  test('runs as a CommonJS script', async () => {
    const { script } = await compileBot(
      'enum Mood { Fine = "fine" }\nexport const actions = { mood: (): Mood => Mood.Fine }',
    )
    const module = { exports: {} as { actions: { mood(): string } } }
    // oxlint-disable-next-line typescript/no-implied-eval
    new Function('module', 'exports', script)(module, module.exports)
    expect(module.exports.actions.mood()).toBe('fine')
  })

  test('has a place, which is not that of a file', async () => {
    const { script } = await compileBot(
      'export const place = [import.meta.url, import.meta.filename, import.meta.dirname]',
    )
    const module = { exports: {} as { place: string[] } }
    // oxlint-disable-next-line typescript/no-implied-eval
    new Function('module', 'exports', script)(module, module.exports)
    expect(module.exports.place).toEqual(['file:///bot.js', '/bot.js', '/'])
  })

  test('leads positions of the script back to the source', async () => {
    const source = 'interface Unused {\n  field: string\n}\n\nexport function fail() {\n  throw new Error("here")\n}'
    const { script, sourceMap } = await compileBot(source)
    const line = script.split('\n').findIndex((text) => text.includes('throw new Error')) + 1
    const stack = `Error: here\n    at fail (bot.js:${line}:9)`
    expect(toSourceStack(stack, sourceMap)).toBe('Error: here\n    at fail (bot.ts:6:9)')
    expect(firstPosition(stack, sourceMap)).toEqual({ file: 'bot.ts', line: 6, column: 9 })
  })

  test('is refused with file, line and column where it does not parse', async () => {
    expect(await tryToCompile('const fine = 1\n  const = 2')).toEqual({
      status: 'refused',
      problem: 'Expected identifier but found "="',
      at: { file: 'bot.ts', line: 2, column: 9 },
    })
  })
})

test.each([
  ['export const hooks = {}', true],
  ["import fs from 'node:fs'\nexport const a: string = fs.x", true],
  ["export const handler = () => require('fs')", true],
  ['const x = 1', false],
  ['export {}', true],
  ['const x = 1 // export', false],
  ['exports.handler = async () => {}', false],
  ["const n = 'a'; module.exports = { handler: () => require('./locale/' + n) }", false],
])('%j is a module: %j', async (source, isModule) => {
  expect((await compileBot(source)).isModule).toBe(isModule)
})

/** The reason why an upload is refused; undefined for an accepted one. */
async function refusalOf(source: string): Promise<string | undefined> {
  const { problem, at } = refusedImport((await compile(source)).imports) ?? {}
  return at && `${at.file}:${at.line}:${at.column}: ${problem}`
}

const notThere = 'which is not in the upload: bundle the dependencies'

test.each([
  ["export const a = 1\nexport * from 'left-pad'", 'bot.ts:2:15', `'left-pad', ${notThere}`],
  ["import 'node:os'\nimport './other.ts'", 'bot.ts:2:8', `'./other.ts', ${notThere}`],
  ["import '/etc/passwd'", 'bot.ts:1:8', `'/etc/passwd', ${notThere}`],
  ["import 'https://example.com/a.js'", 'bot.ts:1:8', `'https://example.com/a.js', ${notThere}`],
  [
    "import data from './a.json' with { type: 'json' }\nexport const a = data",
    'bot.ts:1:18',
    `'./a.json', ${notThere}`,
  ],
  ['export const later = () => import(`lodash`)', 'bot.ts:1:35', `'lodash', ${notThere}`],
  ["export const later = (n: string) => [import('./words/' + n), import('ms')]", 'bot.ts:1:69', `'ms', ${notThere}`],
  ["const ms = require('ms')\nexports.hooks = { afterTurnEnd: () => ms }", 'bot.ts:1:20', `'ms', ${notThere}`],
  ["export const where = () => require.resolve('ms')", 'bot.ts:1:44', `'ms', ${notThere}`],
  ["try { require('ms') } catch {}", 'bot.ts:1:15', `'ms', ${notThere}`],
  ["import ms = require('ms')\nexport const a = ms", 'bot.ts:1:21', `'ms', ${notThere}`],
])('%j is refused where it asks for what is not in it', async (source, position, problem) => {
  expect(await refusalOf(source)).toContain(`${position}: it imports ${problem}`)
})

test.each([
  ["import type { Client } from '@botpress/client'\nexport const a: Client | undefined = undefined"],
  ["import { Client } from '@botpress/client'\nexport const a: Client | undefined = undefined"],
  ["// import fs from 'fs'\nexport const a = 'require(\"fs\")'"],
  ['export const later = (name: string) => import(name)'],
  ["export const later = (name: string) => import('./words/' + name)"],
  ["function load(require: (name: string) => string) { return require('fs') }\nexport const a = load"],
  ["export const a = { require: (name: string) => name, import: 1 }\na.require('fs')"],
  ["import { createHash } from 'node:crypto'\nexport const a = createHash"],
  ["const fs = require('fs')\nexports.hooks = { afterTurnEnd: () => fs }"],
  ["export const later = () => import('node:sqlite')"],
])('%j asks by name for nothing, or for modules of Node', async (source) => {
  expect(await refusalOf(source)).toBeUndefined()
})

describe('a bundle of the SDK', () => {
  test('is run as it is, and its positions are its own', async () => {
    const source = 'exports.handler = () => {}'
    const { script, sourceMap } = await asSdkBundle(source)
    expect(script).toBe(source)
    expect(toSourceStack('Error: here\n    at fail (bot.js:1:9)', sourceMap)).toBe(
      'Error: here\n    at fail (bot.ts:1:9)',
    )
  })

  test('is run without the source map in its last line, which leads to the files it was made of', async () => {
    const code = bundleOfTwoFiles('cjs', 'inline')
    const { script, sourceMap } = await asSdkBundle(code)
    expect(code).toContain('sourceMappingURL')
    expect(script).not.toContain('sourceMappingURL')
    expect(toSourceStack(stackIn(script), sourceMap)).toBe('    at fail (src/hooks/foo.ts:4:17)')
  })
})

/** Runs a script as the isolate does, in a function. */
function runScript(script: string): void {
  runInNewContext(`(function (module, exports) {\n${script}\n})(module, exports)`, { module: {}, exports: {} })
}

test('the code of a module is strict, and that of a CommonJS script as its author has it', async () => {
  const changing = 'const frozen = Object.freeze({})\nfrozen.property = 1'
  const module = await compileBot(`export {}\n${changing}`)
  expect(() => runScript(module.script)).toThrow('not extensible')
  const { script } = await compileBot(`exports.hooks = {}\n${changing}`)
  expect(() => runScript(script)).not.toThrow()
})

describe('positions lead to the files that a bundle was made of', () => {
  test('by the source map in its last line', async () => {
    const { script, sourceMap } = await compileBot(bundleOfTwoFiles('esm', 'inline'))
    expect(script).not.toContain('sourceMappingURL')
    expect(toSourceStack(stackIn(script), sourceMap)).toBe('    at fail (src/hooks/foo.ts:4:17)')
    expect(firstPosition(stackIn(script), sourceMap)).toEqual({ file: 'src/hooks/foo.ts', line: 4, column: 17 })
  })

  test.each(['esm', 'cjs'] as const)('by one that comes apart, in %s', async (format) => {
    const code = bundleOfTwoFiles(format, 'linked')
    const map = bundleOfTwoFiles(format, 'linked', '.map')
    const compiled = format === 'esm' ? await compileBot(code, map) : await asSdkBundle(code, map)
    expect(toSourceStack(stackIn(compiled.script), compiled.sourceMap)).toBe('    at fail (src/hooks/foo.ts:4:17)')
  })

  test('and nowhere when the map in it is damaged, or a file that is not in it', async () => {
    for (const url of ['data:application/json;base64,e30=', 'bot.js.map', '/etc/passwd', '../../package.json']) {
      const { script, sourceMap } = await compileBot(
        `export const a = () => {\n  throw new Error("here")\n}\n//# sourceMappingURL=${url}`,
      )
      const line = script.split('\n').findIndex((text) => text.includes('throw new')) + 1
      expect(toSourceStack(`    at a (bot.js:${line}:3)`, sourceMap)).toBe('    at a (bot.ts:2:3)')
    }
  })

  test('and a map that is none is refused', async () => {
    for (const map of ['{', '[]', '{"version":2,"sources":[],"mappings":""}', '{"version":3,"sources":1}']) {
      expect(await tryToCompile('export const a = 1', map)).toEqual({
        status: 'refused',
        problem: 'sourceMap must be the JSON of a source map, version 3',
      })
    }
  })
})

/** The output of esbuild for two files; its `end` is `.js` or `.map`. */
function bundleOfTwoFiles(format: 'esm' | 'cjs', sourcemap: 'inline' | 'linked', end = '.js'): string {
  const files: Record<string, string> = {
    '/bot/src/index.ts': "import { fail } from './hooks/foo.ts'\nexport const hooks = { afterTurnEnd: fail }",
    '/bot/src/hooks/foo.ts':
      'interface Unused {\n  a: string\n}\nexport function fail(): never { throw new TypeError("in foo") }',
  }
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const { outputFiles } = buildSync({
    entryPoints: [join(folder, 'bot/src/index.ts')],
    absWorkingDir: join(folder, 'bot'),
    outfile: 'dist/bot.js',
    bundle: true,
    write: false,
    format,
    sourcemap,
  })
  return outputFiles.find(({ path }) => path.endsWith(end))!.text
}

/** A stack with the name of `fail` in a script as its only place. */
function stackIn(script: string): string {
  const lines = script.split('\n')
  const line = lines.findIndex((text) => text.includes('function fail'))
  return `    at fail (bot.js:${line + 1}:${lines[line]!.indexOf('fail') + 1})`
}

test.each([
  ['const hooks = {\n  lunch() {},\n}', 'lunch', { file: 'bot.ts', line: 2, column: 3 }],
  ['const lunchtime = 1, lunch = 2', 'lunch', { file: 'bot.ts', line: 1, column: 22 }],
  ['const a = 1', 'lunch', undefined],
  ['x["$("]', '$(', { file: 'bot.ts', line: 1, column: 4 }],
])('in %j the name %s is first written at %j', (source, name, position) => {
  expect(positionOfName(source, name)).toEqual(position)
})

test('a compiler that cannot be started is no fault of the upload, and the log names the reason', async () => {
  const logged: unknown[] = []
  const compiler = await openCompilerOf(
    ([, ...parameters]) => ['/nowhere/esbuild', ...parameters],
    (...line) => logged.push(line),
  )
  const compilation = compiler.compile('test', async () => ({
    source: 'export const hooks = {}',
    sourceMap: undefined,
  }))
  await expect(compilation).rejects.toThrow(CompilerError)
  await compiler.close()
  expect(logged).toContainEqual([
    'error',
    'A compiler process cannot be started',
    { code: 127, complaint: expect.stringContaining('/nowhere/esbuild') },
  ])
})
