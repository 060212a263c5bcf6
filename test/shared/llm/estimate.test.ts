import { expect, test } from 'vitest'
import { estimateTokens } from '#shared/llm/estimate.ts'

const estimate = (content: unknown) => estimateTokens({ messages: [{ role: 'user', content: content as never }] }).input

test('pictures and audio count as such, and texts that look like them as texts', () => {
  const long = `data:${'x'.repeat(40_000)}`
  expect(estimate([{ type: 'image', url: long }])).toBeLessThan(1100)
  expect(estimate(long)).toBeGreaterThan(10_000)
  expect(estimate([{ type: 'text', text: long }])).toBeGreaterThan(10_000)
})
