import { Buffer } from 'buffer'

const charactersAtOnce = 32_768

/** Without a JIT, 10 MB take 0.4 s as long as they are ASCII, and 2 s where they are not. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  const ascii = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) return encodeFrom(text, ascii.subarray(0, index))
    ascii[index] = code
  }
  return ascii
}

/** The library makes a list of numbers first, eight times as large as the text: so long texts go in parts. */
function encodeFrom(text: string, encoded: Uint8Array): Uint8Array<ArrayBuffer> {
  const parts = [encoded]
  for (let start = encoded.length; start < text.length;) {
    const end = start + charactersAtOnce
    const dividesPair = end < text.length && isHighSurrogate(text.charCodeAt(end - 1))
    const part = text.slice(start, dividesPair ? end - 1 : end)
    parts.push(Buffer.from(part, 'utf8'))
    start += part.length
  }
  return new Uint8Array(Buffer.concat(parts))
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** The web's `TextEncoder`. */
export class TextEncoder {
  readonly encoding = 'utf-8'

  encode(text: unknown = ''): Uint8Array {
    return encodeUtf8(String(text))
  }

  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    let read = 0
    let written = 0
    for (const character of text) {
      const bytes = Buffer.from(character, 'utf8')
      if (written + bytes.length > target.length) break
      target.set(bytes, written)
      read += character.length
      written += bytes.length
    }
    return { read, written }
  }
}

export interface DecoderOptions {
  fatal?: boolean
  ignoreBOM?: boolean
}

const labels = new Set(['utf-8', 'utf8', 'unicode-1-1-utf-8'])
const replacement = '\uFFFD'
const byteOrderMark = '\uFEFF'

/** The web's `TextDecoder`, for UTF-8 alone. */
export class TextDecoder {
  readonly encoding = 'utf-8'
  readonly fatal: boolean
  readonly ignoreBOM: boolean
  #character = noCharacter
  #atStart = true

  constructor(label: unknown = 'utf-8', options: DecoderOptions = {}) {
    const name = String(label).trim().toLowerCase()
    if (!labels.has(name)) throw new RangeError(`Only UTF-8 is decoded, not ${name}`)
    this.fatal = options.fatal === true
    this.ignoreBOM = options.ignoreBOM === true
  }

  /** @param options `stream` when more bytes follow, so that a character may be divided between two calls */
  decode(input?: ArrayBuffer | ArrayBufferView, options: { stream?: boolean } = {}): string {
    let text = ''
    for (const byte of bytesOf(input)) text += this.#take(byte)
    if (options.stream !== true && this.#character.missing > 0) text += this.#invalid()
    if (this.#atStart && text !== '') {
      this.#atStart = false
      if (!this.ignoreBOM && text.startsWith(byteOrderMark)) text = text.slice(1)
    }
    if (options.stream !== true) this.#atStart = true
    return text
  }

  #take(byte: number): string {
    const { missing, codePoint, lowest, highest } = this.#character
    if (missing === 0) return this.#begin(byte)
    if (byte < lowest || byte > highest) return this.#invalid() + this.#begin(byte)
    const more = (codePoint << 6) | (byte & 0x3f)
    this.#character = { missing: missing - 1, codePoint: more, lowest: 0x80, highest: 0xbf }
    return missing === 1 ? String.fromCodePoint(more) : ''
  }

  #begin(byte: number): string {
    if (byte < 0x80) return String.fromCharCode(byte)
    const character = firstOf(byte)
    if (character === undefined) return this.#invalid()
    this.#character = character
    return ''
  }

  #invalid(): string {
    this.#character = noCharacter
    if (this.fatal) throw new TypeError('The bytes are not UTF-8')
    return replacement
  }
}

/** A character of which not all bytes have come, and the range of the next one. */
interface Character {
  missing: number
  codePoint: number
  lowest: number
  highest: number
}

const noCharacter: Character = { missing: 0, codePoint: 0, lowest: 0, highest: 0 }

/** The ranges leave out what could be written shorter, surrogates, and what is beyond the last code point. */
function firstOf(byte: number): Character | undefined {
  if (byte >= 0xc2 && byte <= 0xdf) return { missing: 1, codePoint: byte & 0x1f, lowest: 0x80, highest: 0xbf }
  if (byte >= 0xe0 && byte <= 0xef) {
    const [lowest, highest] = byte === 0xe0 ? [0xa0, 0xbf] : byte === 0xed ? [0x80, 0x9f] : [0x80, 0xbf]
    return { missing: 2, codePoint: byte & 0x0f, lowest, highest }
  }
  if (byte >= 0xf0 && byte <= 0xf4) {
    const [lowest, highest] = byte === 0xf0 ? [0x90, 0xbf] : byte === 0xf4 ? [0x80, 0x8f] : [0x80, 0xbf]
    return { missing: 3, codePoint: byte & 0x07, lowest, highest }
  }
  return undefined
}

function bytesOf(input: ArrayBuffer | ArrayBufferView | undefined): Uint8Array {
  if (input === undefined) return new Uint8Array(0)
  return ArrayBuffer.isView(input)
    ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
    : new Uint8Array(input)
}
