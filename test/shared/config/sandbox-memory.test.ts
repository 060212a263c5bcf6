import { expect, test } from 'vitest'
import { sandboxMegabytes } from '#shared/config/sandbox-memory.ts'
import { megabyte } from '#shared/units.ts'

test.each([
  [512, 1, 320],
  [1024, 1, 512],
  [2048, 1, 1024],
  [2048, 3, 1024],
  [8192, 1, 1024],
  [8192, 3, 3072],
  [65_536, 3, 3072],
  [256, 1, 128],
  [64, 1, 128],
])('of a machine with %i MB, %i sandbox processes hold %i MB together', (machine, processes, expected) => {
  expect(sandboxMegabytes(processes, machine * megabyte)).toBe(expected)
})

test('of this machine they hold less than all', () => {
  expect(sandboxMegabytes(1)).toBeGreaterThanOrEqual(128)
})
