import type { FetchRequest } from '#sandbox/protocol/contract.ts'
import type { OutboundResponse } from './open-outbound.ts'

/** A body up to this size, or complete within this time, is passed on whole, which takes one turn of the isolate. */
const wholeBytes = 64 * 1024
const wholeMilliseconds = 15

const streamingTypes = new Set(['text/event-stream', 'application/x-ndjson', 'application/ndjson', 'application/jsonl'])

/** The start of a body. */
export interface Beginning {
  chunks: Buffer[]
  /** The rest of the body; undefined if `chunks` is complete. */
  rest: AsyncIterable<Buffer> | undefined
}

/**
 * Reads the start of a body that may be streamed: nothing of a streaming type or a large body; any other until it ends, or
 * exceeds the size or the time of a body that is passed on whole.
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
        // The reader of the rest handles a rejection; until then it must not count as unhandled.
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

/** @param reading the next chunk, if its read has begun */
async function* continued(
  iterator: AsyncIterator<Buffer>,
  reading?: Promise<IteratorResult<Buffer>>,
): AsyncGenerator<Buffer> {
  for (let read = await (reading ?? iterator.next()); !read.done; read = await iterator.next()) yield read.value
}
