import { describe, expect, test } from 'vitest'
import {
  asSdkBundle,
  compileBot,
  firstPosition,
  importsOf,
  positionOfName,
  toSourceStack,
} from '#shared/compile-bot.ts'

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

  test('has the same hash for the same source', async () => {
    const [a, b, c] = await Promise.all(['const a = 1', 'const a = 1', 'const a = 2'].map(compileBot))
    expect(a!.hash).toBe(b!.hash)
    expect(a!.hash).not.toBe(c!.hash)
  })

  test('leads positions of the script back to the source', async () => {
    const source = 'interface Unused {\n  field: string\n}\n\nexport function fail() {\n  throw new Error("here")\n}'
    const { script, sourceMap } = await compileBot(source)
    const line = script.split('\n').findIndex((text) => text.includes('throw new Error')) + 1
    const stack = `Error: here\n    at fail (bot.js:${line}:9)`
    expect(toSourceStack(stack, sourceMap)).toBe('Error: here\n    at fail (bot.ts:6:9)')
    expect(firstPosition(stack, sourceMap)).toEqual({ line: 6, column: 9 })
  })

  test('is refused with file, line and column where it does not parse', async () => {
    await expect(compileBot('const fine = 1\n  const = 2')).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringMatching(/^bot\.ts:2:9: /),
      metadata: { file: 'bot.ts', line: 2, column: 9 },
    })
  })
})

test.each([
  ['export const hooks = {}', false],
  ["import fs from 'node:fs'\nexport const a: string = fs.x", false],
  ["export const handler = () => require('fs')", false],
  ['const x = 1', false],
  ['exports.handler = async () => {}', true],
  ["const n = 'a'; module.exports = { handler: () => require('./locale/' + n) }", true],
])('%j is CommonJS: %j', async (source, isCommonJs) => {
  expect((await compileBot(source)).isCommonJs).toBe(isCommonJs)
})

test.each([
  ["module.exports = { handler: () => require('util').format('x') }", ['util']],
  ["try { require('supports-color') } catch {}\nmodule.exports = {}", ['supports-color']],
  ["module.exports = { handler: () => import('node:vm') }", ['node:vm']],
  ["const name = 'fs'; module.exports = { handler: () => require(name) }", []],
  ["const n = 'a'; module.exports = { handler: () => require('./locale/' + n) }", []],
  ["// require('net') is what it says\nexports.handler = () => 'require(\"tls\")'", []],
])('%j asks for %j', async (source, imports) => {
  expect(await importsOf(source)).toEqual(imports)
})

test('a bundle of the SDK is run as it is, and its positions are its own', () => {
  const source = 'exports.handler = () => {}'
  const { script, sourceMap, hash } = asSdkBundle(source)
  expect(script).toBe(source)
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(toSourceStack('Error: here\n    at fail (bot.js:1:9)', sourceMap)).toBe(
    'Error: here\n    at fail (bot.ts:1:9)',
  )
})

test.each([
  ['const hooks = {\n  lunch() {},\n}', 'lunch', { line: 2, column: 3 }],
  ['const lunchtime = 1, lunch = 2', 'lunch', { line: 1, column: 22 }],
  ['const a = 1', 'lunch', undefined],
  ['x["$("]', '$(', { line: 1, column: 4 }],
])('in %j the name %s is first written at %j', (source, name, position) => {
  expect(positionOfName(source, name)).toEqual(position)
})
