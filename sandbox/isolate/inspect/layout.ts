import { indexIn } from '../primordials.ts'
import { floor, max, min, padEnd, padStart, repeatText, round, sqrt } from './built-ins.ts'
import type { Inspection } from './inspection.ts'
import { add, createList, join, type List } from './lists.ts'
import { widthOf, withoutColors } from './text.ts'

/** The parts of an object's text. */
export interface Parts {
  /** The text before the bracket, such as the stack of an error. */
  base: string
  opening: string
  closing: string
  entries: List<string>
  /** Whether many entries are put into columns. */
  isList: boolean
  /** Whether all entries are numbers, which columns align to the right. */
  isNumeric: boolean
}

/**
 * Lays out an object: on one line if it is short and not deep, otherwise an entry a line, or several entries of a list.
 *
 * @param depth that of the object's entries
 */
export function layOut(inspection: Inspection, parts: Parts, depth: number): string {
  const { base, opening, closing } = parts
  const { compact, indentation } = inspection
  if (compact === true) return layOutTightly(inspection, parts)
  let { entries } = parts
  if (typeof compact === 'number' && compact >= 1) {
    const count = entries.length
    if (parts.isList && count > 6) entries = toColumns(inspection, entries, parts.isNumeric, compact)
    if (inspection.currentDepth - depth < compact && entries.length === count) {
      const start = count + indentation + opening.length + base.length + 10
      if (fitsLine(inspection, entries, start, base)) {
        const line = join(entries, ', ')
        if (indexIn(line, '\n') === -1) return `${before(base)}${opening} ${line} ${closing}`
      }
    }
  }
  const newline = `\n${repeatText(' ', indentation)}`
  return `${before(base)}${opening}${newline}  ${join(entries, `,${newline}  `)}${newline}${closing}`
}

function before(base: string): string {
  return base === '' ? '' : `${base} `
}

/** The layout with `compact: true`. */
function layOutTightly(inspection: Inspection, { base, opening, closing, entries }: Parts): string {
  const behind = base === '' ? '' : ` ${base}`
  if (fitsLine(inspection, entries, 0, base)) return `${opening}${behind} ${join(entries, ', ')} ${closing}`
  const newline = `\n${repeatText(' ', inspection.indentation)}`
  const first = base === '' && opening.length === 1 ? ' ' : `${behind}${newline}  `
  return `${opening}${first}${join(entries, `,${newline}  `)} ${closing}`
}

function fitsLine({ breakLength, colors }: Inspection, entries: List<string>, start: number, base: string): boolean {
  if (indexIn(base, '\n') !== -1) return false
  let length = entries.length + start
  if (length + entries.length > breakLength) return false
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index]!
    if (breakLength === Infinity && indexIn(entry, '\n') !== -1) return false
    length += colors ? withoutColors(entry).length : entry.length
    if (length > breakLength) return false
  }
  return true
}

/** Puts entries of similar length side by side; returns the entries as they are if that does not fit. */
function toColumns(inspection: Inspection, entries: List<string>, isNumeric: boolean, compact: number): List<string> {
  const { breakLength, colors, indentation, maxArrayLength } = inspection
  // The last entry may say how many others there are.
  const hasRest = maxArrayLength < entries.length
  const count = hasRest ? entries.length - 1 : entries.length
  const lengths = createList<number>()
  let total = 0
  let longest = 0
  for (let index = 0; index < count; index += 1) {
    const length = widthOf(colors ? withoutColors(entries[index]!) : entries[index]!)
    lengths[index] = length
    total += length + 2
    longest = max(longest, length)
  }
  const width = longest + 2
  if (width * 3 + indentation >= breakLength || (total / width <= 5 && longest > 6)) return entries
  const biased = max(width - 3 - sqrt(width - total / entries.length), 1)
  const columns = min(
    round(sqrt(2.5 * biased * count) / biased),
    floor((breakLength - indentation) / width),
    compact * 4,
    15,
  )
  if (columns <= 1) return entries
  const widths = createList<number>()
  for (let column = 0; column < columns; column += 1) {
    let widest = 0
    for (let index = column; index < count; index += columns) widest = max(widest, lengths[index]!)
    widths[column] = widest + 2
  }
  const lines = createList<string>()
  for (let first = 0; first < count; first += columns) {
    const last = min(first + columns, count) - 1
    let line = ''
    for (let index = first; index <= last; index += 1) {
      const entry = entries[index]!
      const padding = widths[index - first]! + entry.length - lengths[index]!
      if (index < last) line += isNumeric ? padStart(`${entry}, `, padding) : padEnd(`${entry}, `, padding)
      else line += isNumeric ? padStart(entry, padding - 2) : entry
    }
    add(lines, line)
  }
  if (hasRest) add(lines, entries[count]!)
  return lines
}
