import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib'
import type { MemoryShare } from './answer-memory.ts'
import { OutboundError } from './outbound/errors.ts'
import type { OutboundResponse } from './outbound/open-outbound.ts'

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const inflateWrapped = promisify(inflate)
const inflateBare = promisify(inflateRaw)

const decoders: Record<string, Decode> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
  // Servers disagree on whether this has a header; its first byte tells.
  deflate: (bytes, options) => ((bytes[0]! & 0x0f) === 8 ? inflateWrapped : inflateBare)(bytes, options),
}

/** Nobody compresses what is compressed; each further layer costs as much as the first. */
const mostCodings = 2

/**
 * Reads the body of an answer, decompressed. A coding that is not known is left as it is.
 *
 * @param mostBytes that it may have, before and after, and in between
 * @param share counts what is read
 * @throws OutboundError `too-large`, `busy`, or `unreachable` when it is not what its headers say
 */
export async function readDecoded(response: OutboundResponse, mostBytes: number, share: MemoryShare): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response.body) {
    share.add(chunk.length)
    chunks.push(chunk)
  }
  let bytes: Buffer = Buffer.concat(chunks)
  if (bytes.length === 0) return bytes
  const codings = codingsOf(response)
  if (codings.length > mostCodings) throw undecodable(response, `it is encoded ${codings.length} times`)
  for (const coding of codings.toReversed()) {
    const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
    if (!decode) return bytes
    bytes = await decodeUpTo(mostBytes, bytes, decode, response)
    share.add(bytes.length)
  }
  return bytes
}

/** In the order in which they were applied. */
function codingsOf({ headers }: OutboundResponse): string[] {
  return [headers['content-encoding'] ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
}

async function decodeUpTo(mostBytes: number, bytes: Buffer, decode: Decode, response: OutboundResponse) {
  try {
    // It stops where the limit is passed, however much there would be.
    return await decode(bytes, { maxOutputLength: mostBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw undecodable(response, 'it is damaged')
    const { host } = new URL(response.url)
    throw new OutboundError('too-large', `The answer of ${host} is larger than ${mostBytes} bytes, decompressed`)
  }
}

function undecodable({ url }: OutboundResponse, reason: string): OutboundError {
  return new OutboundError('unreachable', `The answer of ${new URL(url).host} could not be decompressed: ${reason}`)
}
