import { isUtf8 } from 'node:buffer'
import { ApiError } from '#shared/errors.ts'
import { JsonList } from '#shared/json/json-list.ts'
import type { LargeList } from '#shared/rpc/large-list.ts'
import { megabyte } from '#shared/units.ts'
import { assertDepth, parseBody } from '#shared/json/parse-body.ts'
import { decodeBody, wrongEncoding } from './body-text.ts'

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [bracket, brace, closingBracket, closingBrace] = [0x5b, 0x7b, 0x5d, 0x7d]

/** Maximum of the fields beside the list. */
const maxOtherBytes = megabyte
/** The bytes before a list among which its name is sought. */
const nameBytes = 64

/** From here on, the end of a text is searched, which is faster for long texts, and slower for short ones. */
const longTextBytes = 32

/** Finds where a text may end: at a quotation mark or backslash. Each byte is searched once. */
class Finder {
  readonly #bytes: Buffer
  #quote = -1
  #backslash = -1

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The index of the next one, or of the end. */
  next(from: number): number {
    if (this.#quote < from) this.#quote = this.#find(quote, from)
    if (this.#backslash < from) this.#backslash = this.#find(backslash, from)
    return Math.min(this.#quote, this.#backslash)
  }

  #find(byte: number, from: number): number {
    const index = this.#bytes.indexOf(byte, from)
    return index === -1 ? this.#bytes.length : index
  }
}

/**
 * Reads a body with a list as it arrives: the bytes of each element are kept apart and are parsed later, and all others
 * are a body with an empty list. It only separates: what is no JSON remains none, and fails when it is parsed. A list
 * that it does not recognise, because its name is escaped for example, is parsed with the other fields.
 */
export class ListBody {
  readonly #wanted: LargeList
  readonly #name: RegExp
  readonly #others: Buffer[] = []
  #otherBytes = 0
  #list: JsonList | undefined
  /** The element so far; undefined outside of the list. */
  #element: Buffer[] | undefined
  #elementBytes = 0
  #depth = 0
  #isInString = false
  #isEscaped = false

  constructor(wanted: LargeList) {
    this.#wanted = wanted
    this.#name = new RegExp(`(?<!\\\\)"${wanted.field}"\\s*:\\s*$`)
  }

  /**
   * Takes the next bytes, in UTF-8.
   * @throws ApiError `PayloadTooLarge` or `InvalidPayload` when a bound is exceeded
   */
  take(bytes: Buffer): void {
    const endOfText = new Finder(bytes)
    let start = 0
    let textBytes = 0
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index]!
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === backslash) this.#isEscaped = true
        else if (byte === quote) this.#isInString = false
        else if ((textBytes += 1) > longTextBytes) {
          index = endOfText.next(index) - 1
          textBytes = 0
        }
      } else if (byte === quote) {
        this.#isInString = true
        textBytes = 0
      } else if (byte === bracket || byte === brace) {
        assertDepth((this.#depth += 1))
        if (byte === bracket && this.#depth === 2 && this.#isNamed(bytes.subarray(start, index))) {
          this.#keep(bytes.subarray(start, index + 1))
          start = index + 1
          this.#list = new JsonList()
          this.#element = []
        }
      } else if (byte === closingBracket || byte === closingBrace) {
        if (this.#element && this.#depth === 2) {
          this.#endElement(bytes.subarray(start, index), true)
          start = index
          this.#element = undefined
        }
        this.#depth -= 1
      } else if (byte === comma && this.#element && this.#depth === 2) {
        this.#endElement(bytes.subarray(start, index), false)
        start = index + 1
      }
    }
    this.#keep(bytes.subarray(start))
  }

  /**
   * The body.
   *
   * @throws ApiError `InvalidPayload` when the fields beside the list are no JSON
   */
  end(): unknown {
    const { field } = this.#wanted
    const body = parseBody(decodeBody(new TextDecoder('utf-8', { fatal: true }), Buffer.concat(this.#others)))
    if (this.#list && isRecord(body) && Array.isArray(body[field]) && body[field].length === 0) {
      body[field] = this.#list
    }
    return body
  }

  #isNamed(last: Buffer): boolean {
    if (this.#element) return false
    const before = last.length < nameBytes ? this.#others.slice(-nameBytes) : []
    return this.#name.test(
      Buffer.concat([...before, last])
        .subarray(-nameBytes)
        .toString('latin1'),
    )
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    if (this.#element) {
      this.#element.push(part)
      this.#elementBytes += part.length
      const { field, maxElementBytes } = this.#wanted
      if (this.#elementBytes > maxElementBytes) {
        const path = `${field}.${this.#list!.length}`
        throw new ApiError('PayloadTooLarge', `${path} has more than ${maxElementBytes / 1024} KB, the maximum`)
      }
      return
    }
    this.#others.push(part)
    this.#otherBytes += part.length
    if (this.#otherBytes <= maxOtherBytes) return
    throw new ApiError(
      'PayloadTooLarge',
      `The fields beside '${this.#wanted.field}' have more than ${maxOtherBytes / megabyte} MB, the maximum`,
    )
  }

  #endElement(last: Buffer, isLast: boolean): void {
    this.#keep(last)
    const element = this.#element!
    const list = this.#list!
    this.#element = []
    this.#elementBytes = 0
    const isEmpty = isLast && list.length === 0 && Buffer.concat(element).toString().trim() === ''
    if (isEmpty) return
    const { field, maxElements } = this.#wanted
    if (list.length === maxElements) {
      throw new ApiError('InvalidPayload', `${field} must NOT have more than ${maxElements} items`)
    }
    if (!isUtf8(element.length === 1 ? element[0]! : Buffer.concat(element))) throw wrongEncoding('utf-8')
    list.addText(element)
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
