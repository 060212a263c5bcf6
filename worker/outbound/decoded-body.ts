import { pipeline, Readable, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { OutboundError } from './errors.ts'
import type { OutboundResponse } from './open-outbound.ts'

/** Decoded data is passed on before all data has arrived. */
const zlibOptions = { flush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 }
const brotliOptions = { flush: constants.BROTLI_OPERATION_FLUSH, chunkSize: 64 * 1024 }

/** Each function receives the first chunk. */
const decoders: Record<string, (first: Buffer) => Transform> = {
  gzip: () => createGunzip(zlibOptions),
  'x-gzip': () => createGunzip(zlibOptions),
  br: () => createBrotliDecompress(brotliOptions),
  zstd: () => createZstdDecompress({ chunkSize: 64 * 1024 }),
  // Servers send deflate with and without a zlib header; the first byte shows which.
  deflate: (first) => ((first[0]! & 0x0f) === 8 ? createInflate(zlibOptions) : createInflateRaw(zlibOptions)),
}

/** Servers do not compress compressed data, and each further coding costs as much as the first. */
const maxCodings = 2

/**
 * Reads and decompresses the body of a response as it arrives. Unknown codings are left undecoded.
 *
 * @param maxBytes upper bound before, between and after the decodings
 * @throws OutboundError `too-large`, or `unreachable` when the body does not match its headers
 */
export function readDecoded(response: OutboundResponse, maxBytes: number): AsyncIterable<Buffer> {
  const codings = codingsOf(response)
  if (codings.length > maxCodings) return refuse(response, codings.length)
  let body = response.body
  for (const coding of codings.toReversed()) {
    const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
    if (!decoder) return body
    body = decode(body, decoder, maxBytes, response)
  }
  return body
}

/** Throws at the first data; an empty body is valid. */
async function* refuse(response: OutboundResponse, codings: number): AsyncGenerator<Buffer> {
  for await (const chunk of response.body) {
    if (chunk.length > 0) throw undecodable(response, `it is encoded ${codings} times`)
    yield chunk
  }
}

/** The codings in the order of their application. */
function codingsOf({ headers }: OutboundResponse): string[] {
  return [headers['content-encoding'] ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
}

async function* decode(
  body: AsyncIterable<Buffer>,
  toDecoder: (first: Buffer) => Transform,
  maxBytes: number,
  response: OutboundResponse,
): AsyncGenerator<Buffer> {
  const iterator = body[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) return
  const decoder = toDecoder(first.value)
  // A failure of the source also fails the decoder, where it is handled.
  pipeline(Readable.from(continued(first.value, iterator), { objectMode: false }), decoder, () => {})
  let left = maxBytes
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      left -= chunk.length
      // Decoding stops at the limit, however large the rest is.
      if (left < 0) throw tooLarge(response, maxBytes)
      yield chunk
    }
  } catch (error) {
    throw error instanceof OutboundError ? error : undecodable(response, 'its data is damaged')
  }
}

async function* continued(first: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield first
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.()
  }
}

function tooLarge({ url }: OutboundResponse, maxBytes: number): OutboundError {
  const { host } = new URL(url)
  return new OutboundError('too-large', `The response of ${host} is larger than ${maxBytes} bytes, decompressed`)
}

function undecodable({ url }: OutboundResponse, reason: string): OutboundError {
  return new OutboundError('unreachable', `The response of ${new URL(url).host} could not be decompressed: ${reason}`)
}
