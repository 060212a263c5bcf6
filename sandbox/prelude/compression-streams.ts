import { Deflate, type FlateStreamHandler, Gunzip, Gzip, Inflate, Unzlib, Zlib } from 'fflate'

interface Coder {
  ondata: FlateStreamHandler
  push(chunk: Uint8Array<ArrayBuffer>, isLast?: boolean): void
}

/** Fields of fflate that only its source describes. */
interface Decoder {
  /** The bytes that are not decoded yet. */
  p: Uint8Array
  /** Above 0 while a header is expected; of gzip, with the length of the checksum before it. */
  v?: number
  /** `f`: the last block has begun; `l`: within a block; `p`: the bits of the first byte that are decoded. */
  s: { f?: number; l?: unknown; p?: number }
}

/** Whether no data are missing, by format, before the last push. */
const isWhole: Record<string, (decoder: Decoder) => boolean> = {
  gzip: ({ v = 0, p }) => v >= 9 && p.length >= v - 1,
  deflate: ({ v, s, p }) => !v && isLastBlockDecoded(s) && p.length >= 4 + Math.ceil((s.p ?? 0) / 8),
  'deflate-raw': ({ s }) => isLastBlockDecoded(s),
}

function isLastBlockDecoded({ f, l }: Decoder['s']): boolean {
  return Boolean(f) && !l
}

const coders: Record<'CompressionStream' | 'DecompressionStream', Record<string, () => Coder>> = {
  CompressionStream: { gzip: () => new Gzip(), deflate: () => new Zlib(), 'deflate-raw': () => new Deflate() },
  DecompressionStream: { gzip: () => new Gunzip(), deflate: () => new Unzlib(), 'deflate-raw': () => new Inflate() },
}

/** A transform of bytes, the class of which names the direction. */
class CodingStream {
  readonly #transform: TransformStream<unknown, Uint8Array>

  constructor(name: keyof typeof coders, format: unknown) {
    const key = String(format)
    if (!Object.hasOwn(coders[name], key)) throw new TypeError(`${name} has no format "${key}"`)
    const coder = coders[name][key]!()
    this.#transform = new TransformStream({
      start(controller) {
        coder.ondata = (chunk) => {
          if (chunk.length > 0) controller.enqueue(chunk)
        }
      },
      transform: (chunk) => push(coder, bytesOf(chunk), false),
      flush() {
        if (name === 'DecompressionStream' && !isWhole[key]!(coder as unknown as Decoder)) {
          throw new TypeError('The data ends too early')
        }
        push(coder, new Uint8Array(0), true)
      },
    })
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#transform.readable
  }

  get writable(): WritableStream<unknown> {
    return this.#transform.writable
  }
}

/** The web's `CompressionStream`. */
export class CompressionStream extends CodingStream {
  constructor(format: unknown) {
    super('CompressionStream', format)
  }

  get [Symbol.toStringTag](): string {
    return 'CompressionStream'
  }
}

/** The web's `DecompressionStream`. */
export class DecompressionStream extends CodingStream {
  constructor(format: unknown) {
    super('DecompressionStream', format)
  }

  get [Symbol.toStringTag](): string {
    return 'DecompressionStream'
  }
}

/** @throws TypeError for data that is not of the format */
function push(coder: Coder, chunk: Uint8Array<ArrayBuffer>, isLast: boolean): void {
  try {
    coder.push(chunk, isLast)
  } catch (cause) {
    throw new TypeError(`The data is not of this format: ${(cause as Error).message}`, { cause })
  }
}

function bytesOf(chunk: unknown): Uint8Array<ArrayBuffer> {
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
  if (!ArrayBuffer.isView(chunk)) throw new TypeError('A chunk must be an ArrayBuffer or a view of one')
  return new Uint8Array(chunk.buffer as ArrayBuffer, chunk.byteOffset, chunk.byteLength)
}
