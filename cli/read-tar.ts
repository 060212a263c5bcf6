import { readFile, stat } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { failed, type Failure } from './failure.ts'
import { megabyte } from '#shared/units.ts'

const maxArchive = 100 * megabyte
const maxUnpacked = 256 * megabyte

/** The first bytes of gzip and zstd. */
const compressions = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])]

/**
 * Reads an archive (`.tar`, `.tar.gz` or `.tgz`) into memory, decompressed, for a parser of archives.
 *
 * @param otherwise what to name in the place of a file that is no archive, for the error
 * @throws Failure when it is too large, or compressed in another way
 */
export async function readTar(path: string, otherwise: string): Promise<Buffer> {
  const { size } = await stat(path)
  if (size > maxArchive) throw tooLarge(path, maxArchive)
  const content = decompress(path, await readFile(path), otherwise)
  // The parser of archives would decompress it again, without a limit.
  if (compressions.some((begin) => content.subarray(0, begin.length).equals(begin))) {
    throw failed(`${path} is compressed twice, or not by gzip`)
  }
  return content
}

function decompress(path: string, packed: Buffer, otherwise: string): Buffer {
  if (packed[0] !== 0x1f) return packed
  try {
    return gunzipSync(packed, { maxOutputLength: maxUnpacked })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(path, maxUnpacked)
    throw failed(`${path} is no archive: name ${otherwise}`, { cause })
  }
}

function tooLarge(path: string, limit: number): Failure {
  return failed(`${path} has more than ${limit / megabyte} MB`)
}
