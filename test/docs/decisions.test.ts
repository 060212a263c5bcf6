import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { readPages } from './blocks.ts'

const all = (await readPages()).filter(({ path }) => path.startsWith('docs/decisions/'))
const index = all.find(({ path }) => basename(path) === 'README.md')!
const decisions = all.filter((page) => page !== index)

const titleOf = (text: string) => /^# (.+)$/m.exec(text)?.[1] ?? ''

test.each(decisions)('$path has a title, a status with a date, and a row in the index', ({ path, text }) => {
  expect(path).toMatch(/\/\d{4}-[a-z0-9-]+\.md$/)
  expect(text).toMatch(/^# .+\n\nStatus: (accepted|superseded), \d{4}-\d\d-\d\d(;\s[^]+?)?\.\n\n/)
  expect(index.text).toContain(`[${titleOf(text)}](${basename(path)})`)
})

test('each number belongs to one decision', () => {
  const numbers = decisions.map(({ path }) => basename(path).slice(0, 4))
  expect(numbers).toEqual([...new Set(numbers)])
})
