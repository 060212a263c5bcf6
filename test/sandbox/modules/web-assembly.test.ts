import { createRequire } from 'node:module'
import { afterEach, expect, test, vi } from 'vitest'
import type { TextTokenizer } from '@bpinternal/thicktoken'
import { webAssembly } from '#sandbox/modules/web-assembly.ts'

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
