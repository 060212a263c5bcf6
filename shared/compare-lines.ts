import { diff } from 'node:util'

/** Lines of one text that stand in place of lines of another. */
export interface LineChange {
  /** Where they stand, counted from 1; for none, before which line they would. */
  fromLine: number
  toLine: number
  removed: string[]
  added: string[]
}

/** The work grows with the square of it. What has changed more than so is told as one change. */
const mostLines = 500

/** What has to be changed in one text to make it another, from top to bottom. */
export function compareLines(from: string, to: string): LineChange[] {
  const [before, after] = [from.split('\n'), to.split('\n')]
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let same = 0
  const most = Math.min(before.length, after.length) - start
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same++
  const removed = before.slice(start, before.length - same)
  const added = after.slice(start, after.length - same)
  if (removed.length === 0 && added.length === 0) return []
  const isSmall = removed.length <= mostLines && added.length <= mostLines
  if (!isSmall) return [{ fromLine: start + 1, toLine: start + 1, removed, added }]
  return gather(diff(removed, added), start + 1)
}

/** Joins what is removed and added at one place. */
function gather(entries: ReturnType<typeof diff>, firstLine: number): LineChange[] {
  const changes: LineChange[] = []
  let [fromLine, toLine] = [firstLine, firstLine]
  let current: LineChange | undefined
  for (const [kind, line] of entries) {
    if (kind === 0) {
      current = undefined
      fromLine++
      toLine++
      continue
    }
    if (!current) changes.push((current = { fromLine, toLine, removed: [], added: [] }))
    if (kind === 1) {
      current.removed.push(line)
      fromLine++
    } else {
      current.added.push(line)
      toLine++
    }
  }
  return changes
}
