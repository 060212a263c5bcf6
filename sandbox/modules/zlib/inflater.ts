import { Inflate } from 'fflate'
import { adler32, crc32, type Checksum } from './checksums.ts'
import { dataError, zlibError } from './errors.ts'
import { readHeader, type InflateFormat } from './headers.ts'

/** So many bytes at a time: they become at most 4 MB, so that a bound of the output ends a decompression early. */
const bytesPerPush = 4096

/** Fields of fflate that only its source describes: the bytes that are not decoded, and the position in them. */
interface Decoder {
  p: Uint8Array
  /** `f`: the last block has begun; `l`: within a block; `p`: the bits of the first byte that are decoded. */
  s: { f?: number; l?: unknown; p?: number }
}

/** Codes of fflate's errors, and the messages of zlib. */
const messages: Partial<Record<number, string>> = {
  1: 'invalid block type',
  2: 'invalid literal/length code',
  3: 'invalid distance too far back',
}

/** Decodes a stream in any chunks. fflate decodes the blocks; it verifies no checksums and finds no end. */
export class Inflater {
  readonly #given: InflateFormat
  readonly #dictionary: Uint8Array | undefined
  readonly #onData: (part: Uint8Array) => void
  #format: InflateFormat
  #state: 'header' | 'blocks' | 'trailer' | 'end' = 'header'
  /** Bytes of a header or a trailer that is not complete yet. */
  #rest: Uint8Array = new Uint8Array(0)
  #inflate: Inflate | undefined
  #checksum: Checksum | undefined
  #size = 0
  #isPadded = false

  constructor(format: InflateFormat, dictionary: Uint8Array | undefined, onData: (part: Uint8Array) => void) {
    this.#given = format
    this.#format = format
    this.#dictionary = dictionary
    this.#onData = onData
  }

  /** @throws Error with a code of zlib for data that are not of the format */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at += bytesPerPush) {
      this.#take(chunk.subarray(at, at + bytesPerPush))
    }
  }

  /** @throws Error `Z_BUF_ERROR` where data are missing */
  end(): void {
    if (this.#state !== 'end') throw zlibError('Z_BUF_ERROR', 'unexpected end of file')
  }

  #take(chunk: Uint8Array): void {
    let left: Uint8Array | undefined = chunk
    while (left !== undefined && left.length > 0) left = this.#step(left)
  }

  /** @returns the bytes that the next step takes; undefined where more have to come */
  #step(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#state === 'blocks') return this.#readBlocks(chunk)
    if (this.#state === 'end') return this.#beginMember(chunk)
    const bytes = join(this.#rest, chunk)
    const length = this.#state === 'header' ? this.#readHeader(bytes) : this.#readTrailer(bytes)
    this.#rest = length === undefined ? bytes : new Uint8Array(0)
    return length === undefined ? undefined : bytes.subarray(length)
  }

  #readHeader(bytes: Uint8Array): number | undefined {
    const header = readHeader(this.#given, bytes, this.#dictionary)
    if (!header) return undefined
    this.#format = header.format
    this.#checksum = header.format === 'gzip' ? crc32() : adler32()
    this.#size = 0
    const isWithDictionary = header.format === 'raw' || header.hasDictionary
    const options = this.#dictionary && isWithDictionary ? { dictionary: this.#dictionary } : {}
    this.#inflate = new Inflate(options, (part) => this.#pass(part))
    this.#state = 'blocks'
    return header.length
  }

  #readBlocks(chunk: Uint8Array): Uint8Array | undefined {
    const inflate = this.#inflate!
    try {
      inflate.push(new Uint8Array(chunk))
    } catch (error) {
      const message = messages[(error as { code?: number }).code ?? -1]
      throw message === undefined ? error : dataError(message)
    }
    const { p: left, s: state } = inflate as unknown as Decoder
    if (!state.f || state.l) return undefined
    this.#state = this.#format === 'raw' ? 'end' : 'trailer'
    return left.subarray(state.p ? 1 : 0)
  }

  #pass(part: Uint8Array): void {
    if (part.length === 0) return
    if (this.#format !== 'raw') this.#checksum!.update(part)
    this.#size = (this.#size + part.length) >>> 0
    this.#onData(part)
  }

  #readTrailer(bytes: Uint8Array): number | undefined {
    const isGzip = this.#format === 'gzip'
    const length = isGzip ? 8 : 4
    if (bytes.length < length) return undefined
    const view = new DataView(bytes.buffer, bytes.byteOffset, length)
    if (view.getUint32(0, isGzip) !== this.#checksum!.value()) throw dataError('incorrect data check')
    if (isGzip && view.getUint32(4, true) !== this.#size) throw dataError('incorrect length check')
    this.#state = 'end'
    return length
  }

  /** Another member of gzip may follow; after a zero all is padding, and what follows other formats is ignored. */
  #beginMember(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#format !== 'gzip' || this.#isPadded || chunk[0] === 0) {
      this.#isPadded = true
      return undefined
    }
    this.#state = 'header'
    return chunk
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}
