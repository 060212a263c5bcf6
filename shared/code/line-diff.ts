import { diff } from 'node:util'

/** Lines of one text that replace lines of another. */
export interface LineChange {
  /** The first line in each text, counted from 1; on a side without lines, the line that follows the change. */
  fromLine: number
  toLine: number
  removed: string[]
  added: string[]
}

/** Bounds the memory of the comparing process. */
export const maxLines = 50_000
/** Upper bound of the characters of the differing lines, which form the answer. */
export const maxCharacters = 1_048_576
/**
 * Differing lines in each text that are compared one by one, since the work grows with the square of their number; more
 * form one change.
 */
const maxSteps = 250

/**
 * The changes that turn one text into another, from top to bottom. Blocks the event loop for some milliseconds at most,
 * whatever the texts are.
 *
 * @returns undefined when a text has more than `maxLines`, or the differing lines more than `maxCharacters`
 */
export function diffLines(from: string, to: string): LineChange[] | undefined {
  const [before, after] = [from.split('\n', maxLines + 1), to.split('\n', maxLines + 1)]
  if (before.length > maxLines || after.length > maxLines) return undefined
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let same = 0
  const maxSame = Math.min(before.length, after.length) - start
  while (same < maxSame && before.at(-1 - same) === after.at(-1 - same)) same++
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

/**
 * Compares numbers in place of lines: each line is compared with many others, which is slow for long lines with equal
 * beginnings.
 */
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

/** Joins adjacent removed and added lines to one change. */
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
