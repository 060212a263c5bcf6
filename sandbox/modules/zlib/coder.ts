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
import { readOptions, type Format, type ZlibOptions } from './options.ts'

/** Encodes or decodes chunks. */
export interface Coder {
  options: ZlibOptions
  /**
   * Makes the output of a chunk, part by part as it is asked for.
   *
   * @param flush one of zlib's modes, such as `Z_FINISH` for the last chunk
   * @throws Error with a code of zlib for data that are not of the format, or end too early
   */
  write(chunk: Uint8Array, flush: Z_FlushMode): Generator<Uint8Array<ArrayBuffer>, void>
  /**
   * Takes input and fills a given output, as far as one step of zlib does.
   *
   * @returns the bytes that are left of both
   * @throws Error as `write`
   */
  step(input: Uint8Array, output: Uint8Array<ArrayBuffer>, flush: Z_FlushMode): { input: number; output: number }
  /** Begins anew, with the same options. */
  reset(): void
}

/** @param options those of Node, which are checked */
export type OpenCoder = (options: unknown) => Coder

const compressor = { isCompressor: true, minWindowBits: 8, tellsWindow: false }
const decompressor = { isCompressor: false, minWindowBits: 8, tellsWindow: true }

const formats = {
  Gzip: { ...compressor, minWindowBits: 9, bits: gzipBits },
  Deflate: { ...compressor, bits: zlibBits },
  // As Node does: zlib has no raw data with the smallest window.
  DeflateRaw: { ...compressor, bits: (bits) => rawBits(Math.max(bits, 9)) },
  Gunzip: { ...decompressor, bits: gzipBits },
  Inflate: { ...decompressor, bits: zlibBits },
  InflateRaw: { ...decompressor, tellsWindow: false, bits: rawBits },
  /** gzip or zlib, as the first byte tells. */
  Unzip: { ...decompressor, bits: (bits) => bits + 32 },
} satisfies Record<string, Format>

function zlibBits(bits: number): number {
  return bits
}

function gzipBits(bits: number): number {
  return bits + 16
}

function rawBits(bits: number): number {
  return -bits
}

/** The method of zlib: deflate is the only one. */
const method = 8

function deflating(format: Format): OpenCoder {
  return (given) => {
    const options = readOptions(given, format)
    const { level, windowBits, memLevel, strategy, dictionary } = options
    const stream = new ZStream()
    check(zlibDeflateInit2(stream, level, method, format.bits(windowBits), memLevel, strategy), stream)
    const setDictionary = () => {
      // The format gzip has none, and Node ignores it.
      if (dictionary && format !== formats.Gzip) check(zlibDeflateSetDictionary(stream, dictionary), stream)
    }
    setDictionary()
    return coderOf(stream, options, {
      step: (flush) => zlibDeflate(stream, flush),
      reset() {
        check(zlibDeflateReset(stream), stream)
        setDictionary()
      },
    })
  }
}

function inflating(format: Format): OpenCoder {
  return (given) => {
    const options = readOptions(given, format)
    const { windowBits, dictionary } = options
    const stream = new ZStream()
    check(zlibInflateInit2(stream, format.bits(windowBits)), stream)
    let firstByte: number | undefined
    const reset = () => {
      firstByte = undefined
      check(zlibInflateReset(stream), stream)
      if (format === formats.InflateRaw && dictionary) check(zlibInflateSetDictionary(stream, dictionary), stream)
    }
    reset()
    const step = (flush: Z_FlushMode): Z_CallStatus => {
      const isGzip = format === formats.Gunzip || (format === formats.Unzip && isOfGzip())
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
    return coderOf(stream, options, { step, reset })
  }
}

interface Steps {
  /** Takes input and makes output, as much as there is and as has room. */
  step(flush: Z_FlushMode): Z_CallStatus
  reset(): void
}

/** The loop of Node around zlib: it goes on while the output has filled its room. */
function coderOf(stream: ZStream, options: ZlibOptions, { step, reset }: Steps): Coder {
  const { chunkSize } = options
  stream.avail_out = 0
  const read = (input: Uint8Array) => {
    stream.input = input
    stream.next_in = 0
    stream.avail_in = input.length
  }
  const fill = (output: Uint8Array<ArrayBuffer>) => {
    stream.output = output
    stream.next_out = 0
    stream.avail_out = output.length
  }
  const advance = (flush: Z_FlushMode) => {
    const status = step(flush)
    const isCut = flush === Z_FINISH && stream.avail_out > 0 && (status === Z_OK || status === Z_BUF_ERROR)
    if (isCut) throw zlibError(Z_BUF_ERROR, 'unexpected end of file')
    check(status, stream)
  }
  return {
    options,
    reset,
    *write(chunk, flush) {
      read(chunk)
      do {
        if (stream.avail_out === 0) fill(new Uint8Array(chunkSize))
        const from = stream.next_out
        advance(flush)
        if (stream.next_out > from) yield stream.output.subarray(from, stream.next_out)
      } while (stream.avail_out === 0)
    },
    step(input, output, flush) {
      read(input)
      fill(output)
      advance(flush)
      const left = { input: stream.avail_in, output: stream.avail_out }
      // The output is the caller's: `write` takes one of its own.
      stream.avail_out = 0
      return left
    },
  }
}

function check(status: Z_CallStatus, { msg }: ZStream): void {
  // The buffer error of a step says only that it could do nothing more.
  if (status === Z_OK || status === Z_STREAM_END || status === Z_BUF_ERROR) return
  throw zlibError(status as FailedStatus, msg || 'Zlib error')
}

/** By the name of Node's class. */
export const coders = Object.fromEntries(
  Object.entries(formats).map(([name, format]) => [name, format.isCompressor ? deflating(format) : inflating(format)]),
)
