import { createHash } from 'node:crypto'
import { compile, describeErrors, type Validator } from '#shared/schema.ts'
import { megabyte } from '#shared/units.ts'
import { failed } from '../failure.ts'
import {
  endOfRows,
  headerSchema,
  manifestSchema,
  tableSchema,
  type BackupHeader,
  type BackupManifest,
  type BackupTable,
} from './format.ts'

const validateHeader = compile(headerSchema, 'closedBody')
const validateTable = compile(tableSchema, 'closedBody')
const validateManifest = compile(manifestSchema, 'closedBody')

/** No line but those of rows is longer. */
const maxLineBytes = megabyte
const lineBreak = 10

/** Reads a backup, in order and with bounded memory. A file that is no backup, or not a whole one, is a `Failure`. */
export class BackupReader {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #hash = createHash('sha256')
  #rest: Buffer = Buffer.alloc(0)

  /** @param source the uncompressed lines */
  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  async readHeader(): Promise<BackupHeader> {
    const line = await this.#readLine()
    this.#hash.update(line)
    return parse(line, validateHeader, 'The file is no backup of Isobot, or of a newer version')
  }

  /** The next table, whose rows have to be read next; or the manifest, after whose hash nothing follows. */
  async readPart(): Promise<BackupTable | BackupManifest> {
    const line = await this.#readLine()
    if (line.subarray(0, 9).toString() === '{"table":') {
      this.#hash.update(line)
      return parse(line, validateTable, altered)
    }
    const manifest = parse(line, validateManifest, altered)
    if (manifest.sha256 !== this.#hash.digest('hex')) throw failed(altered)
    return manifest
  }

  /** The rows of the table, in chunks. */
  async *rows(): AsyncGenerator<Buffer> {
    // With the line break before the first row, the end is the same everywhere.
    const end = Buffer.from(`\n${endOfRows}`)
    let skipped = 1
    let data = Buffer.concat([Buffer.from('\n'), this.#rest])
    for (;;) {
      const found = data.indexOf(end)
      const until = found < 0 ? data.length - end.length + 1 : found + 1
      if (until > skipped) {
        const rows = data.subarray(skipped, until)
        this.#hash.update(rows)
        yield rows
      }
      if (found >= 0) {
        this.#hash.update(endOfRows)
        this.#rest = data.subarray(found + end.length)
        return
      }
      // Of the end, all but its last byte may be here already.
      const kept = Math.max(until, 0)
      skipped = Math.max(skipped - kept, 0)
      data = Buffer.concat([data.subarray(kept), await this.#readChunk()])
    }
  }

  async #readLine(): Promise<Buffer> {
    for (;;) {
      const length = this.#rest.indexOf(lineBreak) + 1
      if (length > 0) {
        const line = this.#rest.subarray(0, length)
        this.#rest = this.#rest.subarray(length)
        return line
      }
      if (this.#rest.length > maxLineBytes) throw failed('The file is no backup of Isobot')
      this.#rest = Buffer.concat([this.#rest, await this.#readChunk()])
    }
  }

  async #readChunk(): Promise<Buffer> {
    const next = await this.#chunks.next().catch((cause: unknown) => {
      throw unreadable(cause)
    })
    if (next.done) throw failed(truncated)
    return next.value
  }
}

const altered = 'The backup was altered after it had been taken: use another copy'
const truncated = 'The backup ends too early: the file is not complete, use another copy'

function unreadable(cause: unknown): unknown {
  const { code = '' } = cause as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') return failed(truncated, { cause })
  if (!code.startsWith('Z_')) return cause
  return failed('The file is no backup of Isobot, or it was altered', { cause })
}

function parse<T>(line: Buffer, validate: Validator<T>, problem: string): T {
  let value: unknown
  try {
    value = JSON.parse(line.toString('utf8'))
  } catch (cause) {
    throw failed(problem, { cause })
  }
  if (validate(value)) return value
  throw failed(`${problem} (${describeErrors(validate)})`)
}
