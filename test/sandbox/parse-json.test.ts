import { expect, test } from 'vitest'
import { parseUntrustedJson } from '#sandbox/parse-json.ts'

test('keys that would change prototypes are dropped at any depth, however they are written', () => {
  const text = '[{"a":{"__proto__":{"x":1},"b":[{"\\u005f_proto__":null,"c":"__proto__"}]}}]'
  expect(JSON.stringify(parseUntrustedJson(text))).toBe('[{"a":{"b":[{"c":"__proto__"}]}}]')
})

/** The least of what it takes in several tries, in milliseconds. */
function least(work: () => void): number {
  const tries = Array.from({ length: 5 }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  return Math.min(...tries)
}

test('JSON that might have such keys takes hardly longer than other JSON', () => {
  const text = Buffer.from(`[${'0,'.repeat(250_000)}"\\u0061"]`).toString()
  expect(least(() => parseUntrustedJson(text))).toBeLessThan(12 * least(() => JSON.parse(text)))
})
