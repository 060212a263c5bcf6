import { sliceBytes, through } from './through.ts'
import { maxRecordCharacters, UnreadableFileError } from './unreadable-file.ts'

/** The cells of a record by column, or the reason why it is none; `characters` are those of its cells. */
export type CsvRecord = { characters: number } & (
  | { cells: [column: string, cell: string | null][] }
  | { problem: string }
)

/** Cells of one record of CSV. An empty cell is no character of the record, and is an element of its array. */
const maxCells = 1000

/**
 * Reads the records of a CSV, of which it holds one at a time. The first one has the names of the columns.
 *
 * @throws UnreadableFileError, or the error of the parser
 */
export async function* csvRecords(texts: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  // A worker that imports nothing need not load it.
  const { parse } = await import('csv-parse')
  const { header, all } = await withHeader(texts)
  const parser = parse({
    bom: true,
    delimiter: separatorOf(header),
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: maxRecordCharacters,
    cast: (cell, { quoting, index, lines }) => {
      if (index >= maxCells) throw new UnreadableFileError(`Line ${lines} of the CSV has more than ${maxCells} cells`)
      // An empty text is quoted, no value is not.
      return cell === '' && !quoting ? null : cell
    },
  })
  let columns: string[] | undefined
  for await (const record of through(all, parser) as AsyncIterable<(string | null)[]>) {
    if (!columns) {
      columns = record.map((name) => name ?? '')
      if (new Set(columns).size < columns.length) throw new UnreadableFileError('Two columns of the CSV have one name')
      continue
    }
    const characters = record.reduce((sum, cell) => sum + (cell?.length ?? 0), 0)
    const problem = `has ${record.length} cells, more than there are columns (${columns.length})`
    yield record.length > columns.length
      ? { problem, characters }
      : { cells: record.map((cell, index) => [columns![index]!, cell]), characters }
  }
}

const separators = [',', ';', '\t']

/** The separator of a CSV: spreadsheets of many languages write semicolons, and their texts have tabs. */
function separatorOf(header: string): string {
  const [unquoted = ''] = header.replace(/"[^"]*"/g, '').split(/[\r\n]/, 1)
  const countOf = (separator: string) => unquoted.split(separator).length
  return separators.toSorted((one, other) => countOf(other) - countOf(one))[0]!
}

/** Reads the text up to the first line break or a limit. `all` has the whole text, with the part that is read. */
async function withHeader(texts: AsyncIterable<string>): Promise<{ header: string; all: AsyncIterable<string> }> {
  const iterator = texts[Symbol.asyncIterator]()
  let header = ''
  while (header.length < sliceBytes && !/[\r\n]/.test(header)) {
    const next = await iterator.next()
    if (next.done) break
    header += next.value
  }
  async function* all(): AsyncGenerator<string> {
    yield header
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { header, all: all() }
}
