import { writeFile } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'
import { table } from '../../cli/output.ts'
import { reportFailure } from '../../cli/report-failure.ts'

test('a table has any number of rows, and each of them is one line', () => {
  const rows = Array.from({ length: 300_000 }, (_, index) => [`user_${index}`, 'Ada'])
  expect(table(['ID', 'NAME'], rows).split('\n')).toHaveLength(300_001)
  const forged = [['user_1', 'Ada\nuser_2\tBob\r\u001B[1A\u0085']]
  expect(table(['ID', 'NAME'], forged).split(/[\n\r\t\u0085]/)).toEqual([
    expect.stringContaining('ID'),
    'user_1  Ada␊user_2␉Bob␍␛[1A\uFFFD',
  ])
})

test.runIf(process.platform === 'linux')('an error of a full disk has a remedy', async () => {
  const error = await writeFile('/dev/full', 'x').catch((cause: unknown) => cause)
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    expect(reportFailure(error, { isJson: true, isVerbose: false })).toBe(1)
    expect(String(written.mock.calls[0]![0])).toMatch(/"ENOSPC: [^"]*: free space on the disk, or choose a folder/)
  } finally {
    written.mockRestore()
  }
})
