import { diff } from 'node:util'

/** Lines of one text that stand in place of lines of another. */
export interface LineChange {
  /** Where they stand, counted from 1; for none, before which line they would. */
  fromLine: number
  toLine: number
  removed: string[]
  added: string[]
}

/** Each is held in the memory of the process that compares. */
export const maxLines = 50_000
/** Of what differs: they are the answer. */
export const maxCharacters = 1_048_576
/** The work grows with the square of it. More lines than so that differ are told as one change. */
const maxSteps = 250

/**
 * What has to be changed in one text to make it another, from top to bottom. It holds the event loop for some
 * milliseconds at most, whatever the texts are.
 *
 * @returns undefined when a text has more lines, or the texts differ in more characters, than are compared
 */
export function diffLines(from: string, to: string): LineChange[] | undefined {
  const [before, after] = [from.split('\n', maxLines + 1), to.split('\n', maxLines + 1)]
  if (before.length > maxLines || after.length > maxLines) return undefined
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let same = 0
  const most = Math.min(before.length, after.length) - start
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same++
  const removed = before.slice(start, before.length - same)
  const added = after.slice(start, after.length - same)
  if (removed.length === 0 && added.length === 0) return []
  if (countCharacters(removed) + countCharacters(added) > maxCharacters) return undefined
  const isSmall = removed.length <= maxSteps && added.length <= maxSteps
  if (!isSmall) return [{ fromLine: start + 1, toLine: start + 1, removed, added }]
  return gather(differences(removed, added), start + 1)
}

function countCharacters(lines: string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0)
}

type Differences = ReturnType<typeof diff>

/** Each line is compared with many others: a number in place of it makes that cheap for long lines that begin alike. */
function differences(removed: string[], added: string[]): Differences {
  const numbers = new Map<string, string>()
  const numberOf = (line: string) => {
    const number = numbers.get(line) ?? String(numbers.size)
    numbers.set(line, number)
    return number
  }
  const entries = diff(removed.map(numberOf), added.map(numberOf))
  const lines = [...numbers.keys()]
  return entries.map(([kind, number]) => [kind, lines[Number(number)]!])
}

/** Joins what is removed and added at one place. */
function gather(entries: Differences, firstLine: number): LineChange[] {
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
