import { ApiError } from '#shared/errors.ts'
import { parseBody } from '#shared/json/parse-body.ts'
import { maxRecordCharacters, UnreadableFileError } from './unreadable-file.ts'

export interface JsonRecord {
  value: unknown
  /** Of its text. */
  characters: number
}

/**
 * Splits JSON into its records, of which it holds one at a time: an array of objects, one object after another (JSON
 * lines), or the `rows` of an object whose first key is `schema`, as exports are.
 *
 * @throws UnreadableFileError
 */
export async function* jsonRecords(texts: AsyncIterable<string>): AsyncGenerator<JsonRecord> {
  const splitter = new RecordSplitter()
  for await (const text of texts) yield* splitter.split(text)
  splitter.end()
}

/** The characters before the rows of an export among which their name is sought. */
const nameCharacters = 64

class RecordSplitter {
  /**
   * `start`: before the first value. `first`: in the first object, which is a record unless its first key says
   * otherwise. `export`: in an export, before its rows. `records`: among records. `end`: after them.
   */
  #mode: 'start' | 'first' | 'export' | 'records' | 'end' = 'start'
  #depth = 0
  /** The depth at which records begin. */
  #recordDepth = 0
  #isInString = false
  #isEscaped = false
  #hasKey = false
  /** The record so far, or the last characters of an export. */
  #held = ''
  #count = 0

  /** @throws UnreadableFileError when something has begun and not ended */
  end(): void {
    const isWhole = this.#mode === 'end' || this.#mode === 'start' || (this.#mode === 'records' && this.#depth === 0)
    if (!isWhole) throw new UnreadableFileError('The JSON ends within a value')
  }

  *split(text: string): Generator<JsonRecord> {
    let start = 0
    const textSince = (end: number) => this.#held + text.slice(start, end)
    for (let index = 0; index < text.length; index += 1) {
      const character = text[index]!
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (character === '\\') this.#isEscaped = true
        else if (character === '"') {
          this.#isInString = false
          if (this.#mode === 'first' && !this.#hasKey && /^\{\s*"schema"$/.test(textSince(index + 1))) {
            this.#mode = 'export'
          }
          this.#hasKey = true
        }
      } else if (character === '"') {
        this.#assertInRecord(character)
        this.#isInString = true
      } else if (character === '{' || character === '[') {
        // The text since then would be copied for each bracket.
        const before = () =>
          this.#held.slice(-nameCharacters) + text.slice(Math.max(start, index - nameCharacters), index)
        if (this.#begin(character, before)) {
          this.#held = ''
          start = index
        }
        this.#depth += 1
      } else if (character === '}' || character === ']') {
        this.#depth -= 1
        const isRecord = this.#mode === 'records' || this.#mode === 'first'
        if (isRecord && this.#depth === this.#recordDepth) {
          this.#mode = 'records'
          yield this.#parse(textSince(index + 1))
          this.#held = ''
          start = index + 1
        } else if (this.#mode === 'records' && this.#depth < this.#recordDepth) this.#mode = 'end'
      } else if (character > ' ' && character !== ',') this.#assertInRecord(character)
    }
    this.#held = this.#isInRecord() ? textSince(text.length) : textSince(text.length).slice(-nameCharacters)
    if (this.#held.length > maxRecordCharacters) throw tooLarge(this.#count + 1)
  }

  /**
   * @param before the characters before the bracket
   * @returns whether a record begins here
   */
  #begin(character: string, before: () => string): boolean {
    if (this.#mode === 'start') {
      this.#mode = character === '[' ? 'records' : 'first'
      this.#recordDepth = character === '[' ? 1 : 0
      return character === '{'
    }
    if (this.#mode === 'export' && this.#depth === 1 && character === '[' && /(?<!\\)"rows"\s*:\s*$/.test(before())) {
      this.#mode = 'records'
      this.#recordDepth = 2
      return false
    }
    if (this.#mode !== 'records' || this.#depth !== this.#recordDepth) return false
    if (character === '[') throw new UnreadableFileError(`Record ${this.#count + 1} is an array, not an object`)
    return true
  }

  #isInRecord(): boolean {
    return this.#mode === 'first' || (this.#mode === 'records' && this.#depth > this.#recordDepth)
  }

  #assertInRecord(character: string): void {
    if (this.#mode === 'end' || this.#mode === 'export' || this.#isInRecord()) return
    throw new UnreadableFileError(`Record ${this.#count + 1} begins with '${character}': records are JSON objects`)
  }

  #parse(text: string): JsonRecord {
    this.#count += 1
    if (text.length > maxRecordCharacters) throw tooLarge(this.#count)
    try {
      return { value: parseBody(text), characters: text.length }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw new UnreadableFileError(`Record ${this.#count}: ${error.message}`)
    }
  }
}

function tooLarge(count: number): UnreadableFileError {
  return new UnreadableFileError(`Record ${count} has more than ${maxRecordCharacters} characters`)
}
