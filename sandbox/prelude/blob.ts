import { decodeUtf8, encodeUtf8 } from './encoding.ts'
import { toOptions } from './options.ts'
import { toText } from './text.ts'

export interface BlobOptions {
  type?: unknown
  endings?: unknown
}

/** The web's `Blob`: immutable bytes. */
export class Blob {
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #type: string

  constructor(parts: Iterable<unknown> = [], options: BlobOptions | null = {}) {
    if (typeof parts !== 'object' || parts === null || typeof parts[Symbol.iterator] !== 'function') {
      throw new TypeError('The parts of a Blob must be a list')
    }
    const { type, endings = 'transparent' } = toOptions(options) as BlobOptions
    const lineEndings = toText(endings)
    if (lineEndings !== 'transparent' && lineEndings !== 'native')
      throw new TypeError('The option endings must be transparent or native')
    this.#bytes = concatenate(Array.from(parts, (part) => partBytes(part, lineEndings === 'native')))
    this.#type = toType(type)
  }

  /** The bytes of a blob, which callers must not change. */
  static bytesOf(blob: Blob): Uint8Array<ArrayBuffer> {
    return blob.#bytes
  }

  get size(): number {
    return this.#bytes.length
  }

  get type(): string {
    return this.#type
  }

  slice(start = 0, end = this.size, type: unknown = ''): Blob {
    return new Blob([this.#bytes.slice(toIndex(start), toIndex(end))], { type })
  }

  async text(): Promise<string> {
    return decodeUtf8(this.#bytes).replace(/^\uFEFF/, '')
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bytes.slice()
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer
  }

  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return streamOf(this.#bytes.slice())
  }

  get [Symbol.toStringTag](): string {
    return 'Blob'
  }
}

/** The web's `File`. */
export class File extends Blob {
  readonly #name: string
  readonly #lastModified: number

  constructor(
    parts: Iterable<unknown>,
    name: unknown,
    options: (BlobOptions & { lastModified?: unknown }) | null = {},
  ) {
    if (arguments.length < 2) throw new TypeError('A File requires parts and a name')
    super(parts, options)
    this.#name = String(name).toWellFormed()
    this.#lastModified =
      options?.lastModified === undefined ? Date.now() : Math.trunc(Number(options.lastModified)) || 0
  }

  get name(): string {
    return this.#name
  }

  get lastModified(): number {
    return this.#lastModified
  }

  override get [Symbol.toStringTag](): string {
    return 'File'
  }
}

/** Maximum size of a chunk of a stream. */
const chunkBytes = 65_536

/** Makes a stream of these bytes, in chunks on demand. */
export function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  assertStreams()
  let start = 0
  const pull = (controller: ReadableByteStreamController) => {
    if (start < bytes.length) controller.enqueue(bytes.slice(start, start + chunkBytes))
    start += chunkBytes
    if (start < bytes.length) return
    controller.close()
    controller.byobRequest?.respond(0)
  }
  return new ReadableStream({ type: 'bytes', pull }, { highWaterMark: 0 }) as ReadableStream<Uint8Array<ArrayBuffer>>
}

/** @throws TypeError in a realm without the classes of streams, because no code of the bundle seems to use them */
export function assertStreams(): void {
  if (typeof ReadableStream === 'function') return
  throw new TypeError('Streams are available only to code that names one: mention ReadableStream in it')
}

export function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** @param isNative whether line endings in strings become the native one, a line feed */
function partBytes(part: unknown, isNative: boolean): Uint8Array {
  if (part instanceof Blob) return Blob.bytesOf(part)
  if (part instanceof ArrayBuffer) return new Uint8Array(part)
  if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
  const text = toText(part)
  return encodeUtf8(isNative ? text.replace(/\r\n?/g, '\n') : text)
}

/** The nearest whole number, of two the even one. */
function toIndex(value: unknown): number {
  const number = Number(value)
  const whole = Math.round(number)
  return whole - number === 0.5 && whole % 2 !== 0 ? whole - 1 : whole
}

/** A type with unprintable characters becomes empty. */
function toType(type: unknown = ''): string {
  const text = toText(type)
  return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : ''
}
