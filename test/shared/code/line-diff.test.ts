import { expect, test } from 'vitest'
import { diffLines, maxCharacters, maxLines, type LineChange } from '#shared/code/line-diff.ts'

/** Of texts that are compared. */
function changesOf(from: string, to: string): LineChange[] {
  const changes = diffLines(from, to)
  if (!changes) throw new Error('They are too long')
  return changes
}

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
  const changes = changesOf(from, to)
  expect(changes).toHaveLength(places)
  expect(apply(from, changes)).toBe(to)
  expect(apply(to, swapped(changes))).toBe(from)
})

function swapped(changes: LineChange[]): LineChange[] {
  return changes.map(({ fromLine, toLine, removed, added }) => {
    return { fromLine: toLine, toLine: fromLine, removed: added, added: removed }
  })
}

const lines = (word: string) => Array.from({ length: 40_000 }, (_, index) => `${word} ${index % 7}`)

test('a text of which much has changed is one change', () => {
  const [from, to] = [['same', ...lines('old'), 'same'].join('\n'), ['same', ...lines('new'), 'same'].join('\n')]
  const changes = changesOf(from, to)
  expect(changes).toMatchObject([{ fromLine: 2, toLine: 2 }])
  expect(apply(from, changes) === to).toBe(true)
})

const text = (edge: string, between: number) => [edge, ...Array<string>(between).fill('same'), edge].join('\n')

test('lines that stand far apart among changed ones are one change: work does not grow with their square', () => {
  expect(changesOf(text('a', 200), text('b', 200))).toHaveLength(2)
  expect(changesOf(text('a', 300), text('b', 300))).toHaveLength(1)
})

const lineOf = (end: number) => 'x'.repeat(2000) + end

test('long lines with the same beginning are distinguished', () => {
  const textFrom = (first: number) => Array.from({ length: 200 }, (_, index) => lineOf(first + index)).join('\n')
  const changes = changesOf(textFrom(0), textFrom(1))
  expect(changes).toEqual([
    { fromLine: 1, toLine: 1, removed: [lineOf(0)], added: [] },
    { fromLine: 201, toLine: 200, removed: [], added: [lineOf(200)] },
  ])
})

test('texts of more lines, or with more that differs, than may hold up others are not compared', () => {
  const newlines = '\n'.repeat(4_000_000)
  expect(diffLines(newlines, newlines)).toBeUndefined()
  expect(diffLines('a', newlines)).toBeUndefined()
  const most = '\n'.repeat(maxLines - 1)
  expect(diffLines(most, most)).toEqual([])
  expect(diffLines(`${most}\n`, most)).toBeUndefined()
  const [half, same] = ['x'.repeat(maxCharacters / 2), 'y'.repeat(maxCharacters)]
  expect(diffLines(`${same}\n${half}`, `${same}\nz${half.slice(1)}`)).toHaveLength(1)
  expect(diffLines(`${same}\n${half}`, `${same}\nz${half}`)).toBeUndefined()
})
