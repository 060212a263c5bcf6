import { Deflate, Gzip, Zlib } from 'fflate'
import { Inflater } from './inflater.ts'
import { bytesOf, checkOptions, type ZlibOptions } from './options.ts'

/** Encodes or decodes chunks. */
export interface Coder {
  push(chunk: Uint8Array<ArrayBuffer>): void
  /** Makes the parts so far decodable. */
  flush(): void
  end(): void
}

export type OpenCoder = (options: ZlibOptions, onData: (part: Uint8Array) => void) => Coder

/** Bits of the table of positions, less 12: 128 KB for each stream, as zlib takes by default. */
const tableSize = 4

type Compressor = Deflate | Gzip | Zlib

interface CompressorOptions {
  level: number
  mem: number
  dictionary?: Uint8Array
  mtime?: number
}

function deflating(create: (options: never) => Compressor): OpenCoder {
  return (options, onData) => {
    checkOptions(options, true)
    const { level = -1, dictionary } = options
    const given: CompressorOptions = { level: level === -1 ? 6 : level, mem: tableSize, mtime: 0 }
    if (dictionary) given.dictionary = bytesOf(dictionary, 'options.dictionary')
    const compressor = create(given as never)
    let isEmpty = true
    compressor.ondata = (part) => {
      if (part.length > 0) onData(part)
    }
    return {
      push(chunk) {
        if (chunk.length === 0) return
        isEmpty = false
        compressor.push(chunk)
      },
      flush() {
        // As in Node, nothing precedes the first data.
        if (!isEmpty) compressor.flush(true)
      },
      end: () => compressor.push(new Uint8Array(0), true),
    }
  }
}

function inflating(format: 'gzip' | 'zlib' | 'raw' | 'unzip'): OpenCoder {
  return (options, onData) => {
    checkOptions(options, false)
    const { dictionary } = options
    const inflater = new Inflater(format, dictionary && bytesOf(dictionary, 'options.dictionary'), onData)
    return {
      push: (chunk) => inflater.push(chunk),
      flush() {},
      end() {
        // Node's `Z_SYNC_FLUSH` here: the data may end early.
        if (options.finishFlush !== 2) inflater.end()
      },
    }
  }
}

/** By the name of Node's class. */
export const coders = {
  Gzip: deflating((options) => new Gzip(options)),
  Deflate: deflating((options) => new Zlib(options)),
  DeflateRaw: deflating((options) => new Deflate(options)),
  Gunzip: inflating('gzip'),
  Inflate: inflating('zlib'),
  InflateRaw: inflating('raw'),
  Unzip: inflating('unzip'),
} satisfies Record<string, OpenCoder>
