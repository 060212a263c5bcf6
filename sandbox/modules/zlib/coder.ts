import {
  Z_BUF_ERROR,
  Z_DATA_ERROR,
  Z_FINISH,
  Z_NEED_DICT,
  Z_OK,
  Z_STREAM_END,
  ZStream,
  zlibDeflate,
  zlibDeflateInit2,
  zlibDeflateReset,
  zlibDeflateSetDictionary,
  zlibInflate,
  zlibInflateInit2,
  zlibInflateReset,
  zlibInflateSetDictionary,
  type Z_CallStatus,
  type Z_FlushMode,
} from 'pako'
import { zlibError, type FailedStatus } from './errors.ts'
import { bytesOf, checkOptions, type ZlibOptions } from './options.ts'

/** Encodes or decodes chunks. */
export interface Coder {
  /**
   * @param flush one of zlib's modes, such as `Z_FINISH` for the last chunk
   * @throws Error with a code of zlib for data that are not of the format, or end too early
   */
  write(chunk: Uint8Array, flush: Z_FlushMode): void
  /** Begins anew, with the same options. */
  reset(): void
}

export type OpenCoder = (options: ZlibOptions, onData: (part: Uint8Array<ArrayBuffer>) => void) => Coder

/** Arguments for the bits of the window, by which zlib tells the formats of data apart. */
const formats = {
  zlib: (bits: number) => bits,
  gzip: (bits: number) => bits + 16,
  raw: (bits: number) => -bits,
  /** gzip or zlib, as the first byte tells. */
  unzip: (bits: number) => bits + 32,
}

type Format = keyof typeof formats

const defaultChunkSize = 16 * 1024
/** The method of zlib: deflate is the only one. */
const method = 8

function deflating(format: Format): OpenCoder {
  return (options, onData) => {
    checkOptions(options, true)
    const { level = -1, windowBits = 15, memLevel = 8, strategy = 0, chunkSize = defaultChunkSize } = options
    const stream = new ZStream()
    // As Node does: zlib has no raw data with the smallest window.
    const bits = format === 'raw' ? Math.max(windowBits, 9) : windowBits
    check(zlibDeflateInit2(stream, level, method, formats[format](bits), memLevel, strategy), stream)
    const setDictionary = () => {
      const dictionary = dictionaryOf(options)
      if (dictionary) check(zlibDeflateSetDictionary(stream, dictionary), stream)
    }
    setDictionary()
    return coderOf(stream, {
      chunkSize,
      onData,
      step: (flush) => zlibDeflate(stream, flush),
      reset() {
        check(zlibDeflateReset(stream), stream)
        setDictionary()
      },
    })
  }
}

function inflating(format: Format): OpenCoder {
  return (options, onData) => {
    checkOptions(options, false)
    const { windowBits = 15, chunkSize = defaultChunkSize } = options
    const dictionary = dictionaryOf(options)
    const stream = new ZStream()
    // Zero takes the size of the window from the header of the data.
    check(zlibInflateInit2(stream, formats[format](windowBits)), stream)
    let firstByte: number | undefined
    const reset = () => {
      firstByte = undefined
      check(zlibInflateReset(stream), stream)
      if (format === 'raw' && dictionary) check(zlibInflateSetDictionary(stream, dictionary), stream)
    }
    reset()
    const step = (flush: Z_FlushMode): Z_CallStatus => {
      const isGzip = format === 'gzip' || (format === 'unzip' && isOfGzip())
      const status = withDictionary(zlibInflate(stream, flush), flush)
      return isGzip ? furtherMembers(status, flush) : status
    }
    /** After a member of gzip, another one may follow, or padding of zeros. */
    const furtherMembers = (end: Z_CallStatus, flush: Z_FlushMode): Z_CallStatus => {
      let status = end
      while (status === Z_STREAM_END && stream.avail_in > 0 && stream.input[stream.next_in] !== 0) {
        zlibInflateReset(stream)
        status = zlibInflate(stream, flush)
      }
      return status
    }
    const withDictionary = (status: Z_CallStatus, flush: Z_FlushMode): Z_CallStatus => {
      if (status !== Z_NEED_DICT) return status
      if (!dictionary) throw zlibError(Z_NEED_DICT, 'Missing dictionary')
      if (zlibInflateSetDictionary(stream, dictionary) === Z_DATA_ERROR) throw zlibError(Z_NEED_DICT, 'Bad dictionary')
      return zlibInflate(stream, flush)
    }
    // No header of zlib begins with the first byte of gzip.
    const isOfGzip = () => (firstByte ??= stream.avail_in > 0 ? stream.input[stream.next_in] : undefined) === 0x1f
    return coderOf(stream, { chunkSize, onData, step, reset })
  }
}

interface Steps {
  chunkSize: number
  onData(part: Uint8Array<ArrayBuffer>): void
  /** Takes input and makes output, as much as there is and as has room. */
  step(flush: Z_FlushMode): Z_CallStatus
  reset(): void
}

/** The loop of Node around zlib: it goes on while the output has filled its room. */
function coderOf(stream: ZStream, { chunkSize, onData, step, reset }: Steps): Coder {
  stream.avail_out = 0
  return {
    reset,
    write(chunk, flush) {
      stream.input = chunk
      stream.next_in = 0
      stream.avail_in = chunk.length
      do {
        if (stream.avail_out === 0) {
          stream.output = new Uint8Array(chunkSize)
          stream.next_out = 0
          stream.avail_out = chunkSize
        }
        const from = stream.next_out
        const status = step(flush)
        const isCut = flush === Z_FINISH && stream.avail_out > 0 && (status === Z_OK || status === Z_BUF_ERROR)
        if (isCut) throw zlibError(Z_BUF_ERROR, 'unexpected end of file')
        check(status, stream)
        if (stream.next_out > from) onData(stream.output.subarray(from, stream.next_out))
      } while (stream.avail_out === 0)
    },
  }
}

function dictionaryOf({ dictionary }: ZlibOptions): Uint8Array | undefined {
  return dictionary && bytesOf(dictionary, 'options.dictionary')
}

function check(status: Z_CallStatus, { msg }: ZStream): void {
  // The buffer error of a step says only that it could do nothing more.
  if (status === Z_OK || status === Z_STREAM_END || status === Z_BUF_ERROR) return
  throw zlibError(status as FailedStatus, msg || 'Zlib error')
}

/** By the name of Node's class. */
export const coders = {
  Gzip: deflating('gzip'),
  Deflate: deflating('zlib'),
  DeflateRaw: deflating('raw'),
  Gunzip: inflating('gzip'),
  Inflate: inflating('zlib'),
  InflateRaw: inflating('raw'),
  Unzip: inflating('unzip'),
} satisfies Record<string, OpenCoder>
