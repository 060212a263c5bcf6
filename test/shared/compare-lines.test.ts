import { expect, test } from 'vitest'
import { compareLines, type LineChange } from '#shared/compare-lines.ts'

/** Carries out the changes, as whoever reads them would. */
function apply(from: string, changes: LineChange[]): string {
  const lines = from.split('\n')
  for (const { fromLine, removed, added } of changes.toReversed()) {
    expect(lines.splice(fromLine - 1, removed.length, ...added)).toEqual(removed)
  }
  return lines.join('\n')
}

test.each([
  ['nothing', 'a\nb', 'a\nb', 0],
  ['a line in the middle', 'a\nb\nc', 'a\nx\nc', 1],
  ['lines added at the end', 'a', 'a\nb\nc', 1],
  ['lines taken from the beginning', 'a\nb\nc', 'c', 1],
  ['two places', 'a\nb\nc\nd\ne', 'x\nb\nc\nd\ny\nz', 2],
  ['a line said twice in place of once', 'a\na\nb', 'a\na\na\nb', 1],
  ['everything', 'a\nb', 'c\nd', 1],
])('the changes of one text make the other of it: %s', (_what, from, to, places) => {
  const changes = compareLines(from, to)
  expect(changes).toHaveLength(places)
  expect(apply(from, changes)).toBe(to)
  expect(apply(to, swapped(changes))).toBe(from)
})

function swapped(changes: LineChange[]): LineChange[] {
  return changes.map(({ fromLine, toLine, removed, added }) => {
    return { fromLine: toLine, toLine: fromLine, removed: added, added: removed }
  })
}

const lines = (word: string) => Array.from({ length: 100_000 }, (_, index) => `${word} ${index % 7}`)

test('a text of which much has changed is one change, at no more cost than reading it', () => {
  const [from, to] = [['same', ...lines('old'), 'same'].join('\n'), ['same', ...lines('new'), 'same'].join('\n')]
  const changes = compareLines(from, to)
  expect(changes).toMatchObject([{ fromLine: 2, toLine: 2 }])
  expect(apply(from, changes) === to).toBe(true)
}, 5000)
