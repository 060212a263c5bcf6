import { expect, test } from 'vitest'
import { table } from '../../cli/output.ts'

test('a table has any number of rows, and each of them is one line', () => {
  const rows = Array.from({ length: 300_000 }, (_, index) => [`user_${index}`, 'Ada'])
  expect(table(['ID', 'NAME'], rows).split('\n')).toHaveLength(300_001)
  const forged = [['user_1', 'Ada\nuser_2\tBob\r\u001B[1A\u0085']]
  expect(table(['ID', 'NAME'], forged).split(/[\n\r\t\u0085]/)).toEqual([
    expect.stringContaining('ID'),
    'user_1  Ada␊user_2␉Bob␍␛[1A\uFFFD',
  ])
})
