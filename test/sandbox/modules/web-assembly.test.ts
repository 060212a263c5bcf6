import { createRequire } from 'node:module'
import { afterEach, expect, test, vi } from 'vitest'
import type { TextTokenizer } from '@bpinternal/thicktoken'
import { openQuickJs } from '#sandbox/modules/quickjs.ts'
import { openTokenizer as openProgram } from '#sandbox/modules/tokenizer.ts'
import { webAssemblyOf } from '#sandbox/modules/web-assembly.ts'

const webAssembly = webAssemblyOf(openProgram, webAssemblyOf(openQuickJs))

afterEach(() => vi.unstubAllGlobals())

const require = createRequire(import.meta.url)
const path = require.resolve('@bpinternal/thicktoken')

/** A copy of the package with a tokenizer of its own. */
async function openTokenizer(): Promise<TextTokenizer> {
  delete require.cache[path]
  const { getWasmTokenizer } = require('@bpinternal/thicktoken') as typeof import('@bpinternal/thicktoken')
  return getWasmTokenizer()
}

const texts = [
  'The shop is open on weekdays, 9 to 5.',
  'Grüße aus Köln, natürlich mit Straßenbahn: übermäßig!',
  '人工智能正在改变世界。',
  'a 👩‍👩‍👧 family, é and e\u0301,\ttabs\n\n  lines\r\n',
  'const answer = { value: [1, 22, 333, 4444] } // it’s, we’ll, I’D',
  JSON.stringify({ name: 'Ann', list: Array.from({ length: 50 }, (_, n) => n * 1234.5) }),
  '',
]

test('counts, splits and truncates texts as the tokenizer in WebAssembly does', async () => {
  const real = await openTokenizer()
  vi.stubGlobal('WebAssembly', webAssembly)
  const standIn = await openTokenizer()
  for (const text of texts) {
    expect([text, standIn.count(text)]).toEqual([text, real.count(text)])
    expect(standIn.split(text)).toEqual(real.split(text))
    for (const tokens of [1, 7, -2]) expect(standIn.truncate(text, tokens)).toBe(real.truncate(text, tokens))
  }
  const long = texts.join('\n').repeat(500)
  expect(standIn.count(long)).toBe(real.count(long))
})

test('takes the names of special tokens, which strangers can write, as text', async () => {
  vi.stubGlobal('WebAssembly', webAssembly)
  expect((await openTokenizer()).count('<|endoftext|>')).toBe(7)
})

test('refuses every other program, so that code falls back to what it has without WebAssembly', async () => {
  const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])
  await expect(webAssembly.instantiate(empty)).rejects.toThrow('WebAssembly is not available here')
  await expect(webAssembly.compile()).rejects.toThrow('WebAssembly is not available here')
  expect(webAssembly.validate()).toBe(false)
})

/** The answers of code that the published package of QuickJS runs. */
async function answersOfQuickJs(): Promise<unknown[]> {
  vi.resetModules()
  const { default: variant } = await import('@jitl/quickjs-singlefile-browser-release-sync')
  const { newQuickJSWASMModuleFromVariant } = await import('quickjs-emscripten-core')
  const vm = (await newQuickJSWASMModuleFromVariant(variant)).newContext()
  vm.newFunction('ask', (question) => vm.newString(`${vm.dump(question)}!`)).consume((ask) =>
    vm.setProp(vm.global, 'ask', ask),
  )
  const run = (code: string) => {
    const { value, error } = vm.evalCode(code) as { value?: typeof vm.undefined; error?: typeof vm.undefined }
    return value ? vm.dump(value) : { thrown: vm.dump(error!).message }
  }
  return programs.map(run)
}

const programs = [
  `[0.1 + 0.2, -0, 1e300, 2 ** 53 + 1, 123456789 * 987654321, 7 % -3, 1 / 3, NaN, 5 >>> 1, -1 >>> 0].map(String)`,
  `[10n ** 40n, -7n / 2n, BigInt.asIntN(64, 2n ** 63n)].map(String)`,
  `['Grüße 👩‍👩‍👧'.length, 'äöü'.toUpperCase(), 'a1b22'.replace(/\\d+/g, (digits) => digits.length), 'é'.normalize('NFD').length]`,
  `JSON.parse('{"list":[1,2.5,{"x":null}],"text":"\\u00fc"}')`,
  `[new Date(86400000).toISOString(), [3, 1, 10, 2].sort().join(), Math.hypot(3, 4), parseFloat('1.5e-7'), (255).toString(16)]`,
  `ask('are you there')`,
  `null.x`,
  `const deep = () => deep() + 1; deep()`,
  `let sum = 0; for (const each of Array.from({ length: 20000 }, (_, n) => ({ n }))) sum += each.n; sum`,
  `[typeof process, typeof fetch, typeof WebAssembly, typeof require, Object.getOwnPropertyNames(globalThis).length]`,
]

test('runs code in QuickJS with the same answers as in WebAssembly', async () => {
  const real = await answersOfQuickJs()
  vi.stubGlobal('WebAssembly', webAssembly)
  expect(await answersOfQuickJs()).toEqual(real)
  expect(real.at(-1)).toEqual(['undefined', 'undefined', 'undefined', 'undefined', expect.any(Number)])
})

test('begins a QuickJS with 6 MB, since agents open one for each step, and grows it for code that needs more', async () => {
  const buffers: (() => ArrayBuffer)[] = []
  class Counted extends webAssembly.Memory {
    constructor(descriptor: { initial: number }) {
      super(descriptor)
      buffers.push(() => this.buffer)
    }
  }
  vi.stubGlobal('WebAssembly', { ...webAssembly, Memory: Counted })
  vi.resetModules()
  const { default: variant } = await import('@jitl/quickjs-singlefile-browser-release-sync')
  const { newQuickJSWASMModuleFromVariant } = await import('quickjs-emscripten-core')
  using vm = (await newQuickJSWASMModuleFromVariant(variant)).newContext()
  const megabytes = () => buffers.map((buffer) => buffer().byteLength / 2 ** 20)
  expect(megabytes()).toEqual([6])
  using objects = vm.unwrapResult(vm.evalCode('Array.from({ length: 20_000 }, (_, n) => ({ n })).at(-1).n'))
  expect(vm.dump(objects)).toBe(19_999)
  expect(megabytes()[0]).toBeGreaterThan(6)
})
