import { latin1Text } from './base64.ts'
import { decodeOther, encodings, wholeLengthOfOther, type Encoding } from './encodings.ts'

// Saved before bot code can replace them.
const { decodeURIComponent, escape } = globalThis as unknown as Record<string, (text: string) => string>

/** Without a JIT, 10 million characters take 0.4 s if all are ASCII, otherwise about 1 s. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  const ascii = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) return encodeFrom(text, index, ascii)
    ascii[index] = code
  }
  return ascii
}

/** Continues from the first character that is not ASCII. A UTF-16 code unit takes at most three bytes. */
function encodeFrom(text: string, start: number, ascii: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(start + (text.length - start) * 3)
  bytes.set(ascii.subarray(0, start))
  const { written } = encodeInto(text, start, bytes)
  return bytes.slice(0, written)
}

/** Writes the text from `start` on, to the same index, as far as whole characters fit. */
export function encodeInto(text: string, start: number, bytes: Uint8Array): { read: number; written: number } {
  let at = start
  let index = start
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code < 0x80) {
      if (at >= bytes.length) break
      bytes[at++] = code
      index += 1
      continue
    }
    const point = (code & 0xf800) === 0xd800 ? codePointAt(text, index) : code
    const length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
    if (at + length > bytes.length) break
    if (length === 2) bytes[at++] = 0xc0 | (point >> 6)
    else {
      if (length === 3) bytes[at++] = 0xe0 | (point >> 12)
      else {
        bytes[at++] = 0xf0 | (point >> 18)
        bytes[at++] = 0x80 | ((point >> 12) & 0x3f)
      }
      bytes[at++] = 0x80 | ((point >> 6) & 0x3f)
    }
    bytes[at++] = 0x80 | (point & 0x3f)
    index += length === 4 ? 2 : 1
  }
  return { read: index, written: at }
}

/** The number of bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 0x80) continue
    length += code < 0x800 ? 1 : 2
    // A surrogate pair has four bytes, which its first half has counted together with the second.
    if ((code & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) index += 1
  }
  return length
}

/** Lone surrogates become the replacement character. */
function codePointAt(text: string, index: number): number {
  const point = text.codePointAt(index)!
  return point < 0x10000 ? 0xfffd : point
}

/** The web's `TextEncoder`. */
export class TextEncoder {
  get encoding(): string {
    return 'utf-8'
  }

  encode(text: unknown = ''): Uint8Array {
    return encodeUtf8(String(text))
  }

  encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
    if (!(target instanceof Uint8Array)) throw new TypeError('TextEncoder.encodeInto requires a Uint8Array')
    return encodeInto(String(text), 0, target)
  }

  get [Symbol.toStringTag](): string {
    return 'TextEncoder'
  }
}

export interface DecoderOptions {
  fatal?: boolean
  ignoreBOM?: boolean
}

const replacement = '\uFFFD'
const byteOrderMark = '\uFEFF'
const nothing = new Uint8Array(0)

/** The web's `TextDecoder`, for UTF-8, UTF-16 and windows-1252. */
export class TextDecoder {
  readonly #encoding: Encoding
  readonly #fatal: boolean
  readonly #ignoresMark: boolean
  /** The bytes of an incomplete character at the end of the input. */
  #pending: Uint8Array = nothing
  #atStart = true

  constructor(label: unknown = 'utf-8', options: DecoderOptions | null = {}) {
    const name = String(label)
      .replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '')
      .toLowerCase()
    const encoding = encodings.get(name)
    if (!encoding) throw new RangeError(`The encoding '${name}' is not supported, only UTF-8, UTF-16 and windows-1252`)
    this.#encoding = encoding
    this.#fatal = Boolean(options?.fatal)
    this.#ignoresMark = Boolean(options?.ignoreBOM)
  }

  get encoding(): string {
    return this.#encoding
  }

  get fatal(): boolean {
    return this.#fatal
  }

  get ignoreBOM(): boolean {
    return this.#ignoresMark
  }

  /** @param options `stream` when more bytes follow, so that a character may be split between two calls */
  decode(input?: unknown, options?: { stream?: boolean } | null): string {
    const streams = Boolean(options?.stream)
    const bytes = joined(this.#pending, bytesOf(input))
    const whole = streams ? this.#wholeLength(bytes) : bytes.length
    this.#pending = whole === bytes.length ? nothing : bytes.slice(whole)
    const isStart = this.#atStart
    this.#atStart = !streams
    try {
      const text = this.#decode(bytes.subarray(0, whole))
      if (text === '') {
        this.#atStart = isStart || !streams
        return text
      }
      return isStart && !this.#ignoresMark && text[0] === byteOrderMark ? text.slice(1) : text
    } catch (error) {
      this.#pending = nothing
      this.#atStart = true
      throw error
    }
  }

  #wholeLength(bytes: Uint8Array): number {
    return this.#encoding === 'utf-8' ? wholeLength(bytes) : wholeLengthOfOther(this.#encoding, bytes)
  }

  #decode(bytes: Uint8Array): string {
    return this.#encoding === 'utf-8' ? decodeUtf8(bytes, this.#fatal) : decodeOther(this.#encoding, bytes, this.#fatal)
  }

  get [Symbol.toStringTag](): string {
    return 'TextDecoder'
  }
}

/** Larger chunks would make strings for which the heap has no room. */
const chunkBytes = 65_536

/**
 * Decodes these bytes, byte order mark included. V8's own functions decode valid UTF-8: without a JIT, they take about
 * 0.3 s for 10 MB, and decoding byte by byte takes twenty times as long.
 *
 * @param fatal whether invalid bytes throw a TypeError instead of being replaced
 */
export function decodeUtf8(bytes: Uint8Array, fatal = false): string {
  let text = ''
  for (let start = 0; start < bytes.length;) {
    const part = bytes.subarray(start, start + chunkBytes)
    const isLast = start + part.length === bytes.length
    const whole = isLast ? part : part.subarray(0, wholeLength(part))
    text += decodePart(whole, fatal)
    start += whole.length
  }
  return text
}

function decodePart(bytes: Uint8Array, fatal: boolean): string {
  const codes = latin1Text(bytes)
  // oxlint-disable-next-line no-control-regex -- that is what ASCII is.
  if (/^[\0-\x7f]*$/.test(codes)) return codes
  try {
    return decodeURIComponent!(escape!(codes))
  } catch {
    if (fatal) throw new TypeError('The bytes are not valid UTF-8')
    return decodeReplacing(bytes)
  }
}

function decodeReplacing(bytes: Uint8Array): string {
  let text = ''
  for (let index = 0; index < bytes.length;) {
    const first = bytes[index]!
    const { missing, lowest, highest } = first < 0x80 ? asciiCharacter : firstOf(first)
    let point = first < 0x80 ? first : first & (0x3f >> missing)
    let taken = 1
    for (; taken <= missing; taken += 1) {
      const byte = bytes[index + taken]
      if (byte === undefined || byte < (taken === 1 ? lowest : 0x80) || byte > (taken === 1 ? highest : 0xbf)) break
      point = (point << 6) | (byte & 0x3f)
    }
    text += missing === -1 || taken <= missing ? replacement : String.fromCodePoint(point)
    index += taken
  }
  return text
}

/** The consequences of a first byte: the number of bytes that follow, and the range of the next one. */
interface FirstByte {
  /** -1 when no character begins with this byte. */
  missing: number
  lowest: number
  highest: number
}

const asciiCharacter: FirstByte = { missing: 0, lowest: 0, highest: 0 }
const noCharacter: FirstByte = { missing: -1, lowest: 0, highest: 0 }

/** The ranges exclude overlong forms, surrogates, and values beyond the last code point. */
function firstOf(byte: number): FirstByte {
  if (byte >= 0xc2 && byte <= 0xdf) return { missing: 1, lowest: 0x80, highest: 0xbf }
  if (byte >= 0xe0 && byte <= 0xef) {
    return { missing: 2, lowest: byte === 0xe0 ? 0xa0 : 0x80, highest: byte === 0xed ? 0x9f : 0xbf }
  }
  if (byte >= 0xf0 && byte <= 0xf4) {
    return { missing: 3, lowest: byte === 0xf0 ? 0x90 : 0x80, highest: byte === 0xf4 ? 0x8f : 0xbf }
  }
  return noCharacter
}

/** Number of bytes before an incomplete character at the end. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const at = bytes.length - back
    const byte = bytes[at]!
    if ((byte & 0xc0) === 0x80) continue
    if (byte < 0x80) return bytes.length
    const { missing, lowest, highest } = firstOf(byte)
    const second = bytes[at + 1]
    const isRight = second === undefined || (second >= lowest && second <= highest)
    return missing >= back && isRight ? at : bytes.length
  }
  return bytes.length
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

function bytesOf(input: unknown): Uint8Array {
  if (input === undefined) return nothing
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
  if (input instanceof ArrayBuffer) return new Uint8Array(input)
  throw new TypeError('TextDecoder requires an ArrayBuffer or a view of one')
}
