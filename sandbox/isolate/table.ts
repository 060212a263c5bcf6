import { inspectForLog } from './inspect/inspect.ts'
import { create, getOwnPropertyDescriptor, indexIn, isArray, isObject, keys, sliceText } from './primordials.ts'

const rowsShown = 100
const columnsShown = 20
const cellCharacters = 200

/** Cells by column. */
type Row = Record<string, string>

/**
 * The columns of a table, each with the width of its widest cell. The prefix keeps names that look like an index from
 * being enumerated first.
 */
type Widths = Record<string, number>

const columnStart = ':'
const indexColumn = `${columnStart}(index)`
const valueColumn = `${columnStart}Values`

/**
 * Formats a list of objects, or an object of objects, as a table, and any other value as `inspect` does.
 *
 * @param wanted the names of the columns to show; all if absent
 */
export function showTable(data: unknown, wanted: unknown): string {
  if (!isObject(data)) return typeof data === 'string' ? data : inspectForLog(data)
  const names = keys(data)
  const shown = names.length < rowsShown ? names.length : rowsShown
  const rows = create(null) as Record<number, Row>
  const widths = create(null) as Widths
  widths[indexColumn] = widthOf(indexColumn)
  if (isArray(wanted)) nameColumns(wanted, widths)
  for (let index = 0; index < shown; index += 1) rows[index] = toRow(data, names[index]!, widths, isArray(wanted))
  return draw(rows, shown, widths)
}

function nameColumns(wanted: unknown[], widths: Widths): void {
  for (let index = 0; index < wanted.length && index < columnsShown; index += 1) {
    const name = wanted[index]
    if (typeof name === 'string') widths[columnStart + name] = name.length
  }
}

function toRow(data: Record<string, unknown>, name: string, widths: Widths, isNarrowed: boolean): Row {
  const row = create(null) as Row
  const value = valueIn(data, name)
  put(row, indexColumn, name, widths)
  if (!isObject(value)) {
    put(row, valueColumn, cellOf(value), widths)
    return row
  }
  const fields = keys(value)
  for (let index = 0; index < fields.length && index < columnsShown; index += 1) {
    const field = fields[index]!
    const column = columnStart + field
    const isShown = column in widths || (!isNarrowed && keys(widths).length <= columnsShown)
    if (isShown) put(row, column, cellOf(valueIn(value, field)), widths)
  }
  return row
}

function put(row: Row, column: string, text: string, widths: Widths): void {
  row[column] = text
  const width = widths[column] ?? widthOf(column)
  widths[column] = text.length > width ? text.length : width
}

/** The name of a column, for the header. */
function nameOf(column: string): string {
  return sliceText(column, columnStart.length)
}

function widthOf(column: string): number {
  return nameOf(column).length
}

function cellOf(value: unknown): string {
  const text = inspectForLog(value)
  const newline = indexIn(text, '\n')
  const end = newline === -1 || newline > cellCharacters ? cellCharacters : newline
  return text.length > end ? `${sliceText(text, 0, end)}…` : text
}

function valueIn(object: Record<string, unknown>, name: string): unknown {
  return getOwnPropertyDescriptor(object, name)?.value
}

/** Draws the column of values that are no objects last, whatever row they first occur in. */
function draw(rows: Record<number, Row>, count: number, widths: Widths): string {
  const valueWidth = widths[valueColumn]
  if (valueWidth !== undefined) {
    delete widths[valueColumn]
    widths[valueColumn] = valueWidth
  }
  const columns = keys(widths)
  const header = create(null) as Row
  let text = ''
  for (let index = 0; index < columns.length; index += 1) header[columns[index]!] = nameOf(columns[index]!)
  text += `${rule(columns, widths, '┌', '┬', '┐')}\n${line(columns, widths, header)}\n`
  text += rule(columns, widths, '├', '┼', '┤')
  for (let index = 0; index < count; index += 1) text += `\n${line(columns, widths, rows[index]!)}`
  return `${text}\n${rule(columns, widths, '└', '┴', '┘')}`
}

function rule(columns: string[], widths: Widths, left: string, middle: string, right: string): string {
  let text = left
  for (let index = 0; index < columns.length; index += 1) {
    text += (index === 0 ? '' : middle) + repeat('─', widths[columns[index]!]! + 2)
  }
  return text + right
}

function line(columns: string[], widths: Widths, row: Row): string {
  let text = '│'
  for (let index = 0; index < columns.length; index += 1) {
    const column = columns[index]!
    const cell = row[column] ?? ''
    text += ` ${cell}${repeat(' ', widths[column]! - cell.length)} │`
  }
  return text
}

function repeat(character: string, times: number): string {
  let text = ''
  for (let count = 0; count < times; count += 1) text += character
  return text
}
