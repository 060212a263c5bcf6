import { expect, test } from 'vitest'
import { parseUntrustedJson } from '#sandbox/protocol/parse-json.ts'
import { minProcessorMilliseconds } from '../../support/processor-time.ts'

test('keys that would change prototypes are dropped at any depth, however they are written', () => {
  const text = '[{"a":{"__proto__":{"x":1},"b":[{"\\u005f_proto__":null,"c":"__proto__"}]}}]'
  expect(JSON.stringify(parseUntrustedJson(text))).toBe('[{"a":{"b":[{"c":"__proto__"}]}}]')
})

test('JSON that might have such keys takes hardly longer than other JSON', async () => {
  const text = Buffer.from(`[${'0,'.repeat(250_000)}"\\u0061"]`).toString()
  // Often, because some systems count processor time in steps of some milliseconds.
  const often = (parse: (text: string) => unknown) => () => {
    for (let count = 0; count < 10; count++) parse(text)
  }
  const plain = await minProcessorMilliseconds(often(JSON.parse))
  expect(await minProcessorMilliseconds(often(parseUntrustedJson))).toBeLessThan(12 * plain)
})

const list = (element: string, count = 3600) => `[${Array(count).fill(element).join(',')}]`

test('JSON whose numbers have more than 1 MB of digits without exponents is refused, and texts that look like them are not', () => {
  for (const number of ['1e300', '1E300', '1e+300', '-1e-300']) {
    expect(() => parseUntrustedJson(list(number))).toThrow(/more than 1 MB of digits/)
    expect(parseUntrustedJson(list(number, 3000))).toHaveLength(3000)
    expect(parseUntrustedJson(list(`"${number}"`))).toHaveLength(3600)
  }
  expect(parseUntrustedJson(list('true'))).toHaveLength(3600)
})
