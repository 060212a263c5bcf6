import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hashUpload } from '#shared/code/bundle-id.ts'
import { megabyte } from '#shared/units.ts'

describe('the hash of an upload', () => {
  test.each([
    ['code', 'export const a = 1', undefined],
    ['code and flows', 'λ', '[]'],
    ['code that is longer than a turn, with a pair of units at its end', `${'x'.repeat(megabyte - 1)}😀λ`, undefined],
    ['code of many turns', '😀x'.repeat(megabyte), '😀'.repeat(megabyte)],
  ])('is that of its bytes: %s', async (_, source, flows) => {
    const whole = createHash('sha256').update(source)
    if (flows !== undefined) whole.update('\0').update(flows)
    expect(await hashUpload(source, flows)).toBe(whole.digest('hex'))
  })
})
