import type { FetchRequest } from '#sandbox/protocol/contract.ts'
import type { OutboundResponse } from './open-outbound.ts'

/** A body that is this small, or over this soon, crosses whole: that takes one turn of the isolate. */
const wholeBytes = 64 * 1024
const wholeMilliseconds = 15

const streamingTypes = new Set(['text/event-stream', 'application/x-ndjson', 'application/ndjson', 'application/jsonl'])

/** The begin of a body, read to see whether there is more than that. */
export interface Beginning {
  chunks: Buffer[]
  /** Reads on; undefined: that was all. */
  rest: AsyncIterable<Buffer> | undefined
}

/**
 * Reads the begin of a body that may come in parts. Of one that is made for that nothing is read; any other is read until
 * it is over, larger than what crosses whole, or takes too long.
 */
export async function readBeginning(
  request: FetchRequest,
  response: OutboundResponse,
  body: AsyncIterable<Buffer>,
): Promise<Beginning> {
  if (isMadeForParts(request, response)) return { chunks: [], rest: body }
  const iterator = body[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, wholeMilliseconds)
  try {
    for (let bytes = 0; bytes <= wholeBytes;) {
      const reading = iterator.next()
      const read = await Promise.race([reading, late])
      if (!read) {
        // Its failure is that of whoever reads on, and must not be nobody's until then.
        reading.catch(() => {})
        return { chunks, rest: continued(iterator, reading) }
      }
      if (read.done) return { chunks, rest: undefined }
      chunks.push(read.value)
      bytes += read.value.length
    }
    return { chunks, rest: continued(iterator) }
  } finally {
    clearTimeout(timer)
  }
}

function isMadeForParts({ method }: FetchRequest, { status, headers }: OutboundResponse): boolean {
  if (method === 'HEAD' || status === 204 || status === 304) return false
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  if (streamingTypes.has(type.trim().toLowerCase())) return true
  return headers['content-encoding'] === undefined && Number(headers['content-length'] ?? 0) > wholeBytes
}

/** @param reading of the next chunk, where that was asked for already */
async function* continued(
  iterator: AsyncIterator<Buffer>,
  reading?: Promise<IteratorResult<Buffer>>,
): AsyncGenerator<Buffer> {
  for (let read = await (reading ?? iterator.next()); !read.done; read = await iterator.next()) yield read.value
}
