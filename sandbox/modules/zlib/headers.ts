import { adler32, crc32 } from './checksums.ts'
import { dataError, zlibError } from './errors.ts'

/** `unzip` is gzip or zlib, as the first bytes tell. */
export type InflateFormat = 'gzip' | 'zlib' | 'raw' | 'unzip'

export interface Header {
  format: 'gzip' | 'zlib' | 'raw'
  length: number
  hasDictionary: boolean
}

/**
 * @returns undefined where bytes are missing
 * @throws Error for a header that is not of the format
 */
export function readHeader(
  format: InflateFormat,
  bytes: Uint8Array,
  dictionary: Uint8Array | undefined,
): Header | undefined {
  if (format === 'raw') return { format, length: 0, hasDictionary: false }
  if (bytes.length < 2) return undefined
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  if (format === 'zlib' || (format === 'unzip' && !isGzip)) return readZlibHeader(bytes, dictionary)
  if (!isGzip) throw dataError('incorrect header check')
  const length = gzipLength(bytes)
  return length === undefined ? undefined : { format: 'gzip', length, hasDictionary: false }
}

function readZlibHeader(bytes: Uint8Array, dictionary: Uint8Array | undefined): Header | undefined {
  const method = bytes[0]!
  const flags = bytes[1]!
  if ((method * 256 + flags) % 31 !== 0) throw dataError('incorrect header check')
  if ((method & 15) !== 8) throw dataError('unknown compression method')
  if (method >> 4 > 7) throw dataError('invalid window size')
  if (!(flags & 32)) return { format: 'zlib', length: 2, hasDictionary: false }
  if (bytes.length < 6) return undefined
  if (!dictionary) throw zlibError('Z_NEED_DICT', 'Missing dictionary')
  const checksum = adler32()
  checksum.update(dictionary)
  const isSame = new DataView(bytes.buffer, bytes.byteOffset, 6).getUint32(2) === checksum.value()
  if (!isSame) throw zlibError('Z_NEED_DICT', 'Bad dictionary')
  return { format: 'zlib', length: 6, hasDictionary: true }
}

const flagOf = { checksum: 2, extra: 4, name: 8, comment: 16, unknown: 0xe0 }

/** The length of a header of gzip; undefined where bytes are missing. */
function gzipLength(bytes: Uint8Array): number | undefined {
  if (bytes.length > 2 && bytes[2] !== 8) throw dataError('unknown compression method')
  const flags = bytes[3] ?? 0
  if (flags & flagOf.unknown) throw dataError('unknown header flags set')
  if (bytes.length < 10) return undefined
  let at = 10
  if (flags & flagOf.extra) {
    if (bytes.length < at + 2) return undefined
    at += 2 + bytes[at]! + bytes[at + 1]! * 256
  }
  for (const flag of [flagOf.name, flagOf.comment]) {
    if (!(flags & flag)) continue
    const end = bytes.indexOf(0, at)
    if (end === -1) return undefined
    at = end + 1
  }
  if (flags & flagOf.checksum) {
    if (bytes.length < at + 2) return undefined
    const checksum = crc32()
    checksum.update(bytes.subarray(0, at))
    const given = bytes[at]! + bytes[at + 1]! * 256
    if ((checksum.value() & 0xff_ff) !== given) throw dataError('header crc mismatch')
    at += 2
  }
  return bytes.length < at ? undefined : at
}
