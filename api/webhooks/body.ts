import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Database } from '#shared/store/database.ts'
import { writeParts } from '#shared/store/parts.ts'
import { deleteBody, insertBodyPart } from '#shared/store/webhook-bodies.ts'
import type { BodyLimit } from './limit.ts'

/** Bytes of a part in the database. A request holds two parts: one is written while the next is read. */
const partBytes = 512 * 1024

/** Upper bound of the memory that the body of one request takes. */
export const bodyBytes = 2 * partBytes

/**
 * Stores a request's body in parts, no faster than the database accepts them. When it cannot be stored whole,
 * the stored parts are deleted.
 *
 * @param eventId the id of the event that will be inserted for the request
 * @param limit the webhook's limit
 * @throws ApiError `PayloadTooLarge`, before the body is read where its length is announced
 */
export async function storeBody(
  db: Database,
  eventId: string,
  request: IncomingMessage,
  limit: BodyLimit,
): Promise<void> {
  await limit.check(Number(request.headers['content-length'] ?? 0))
  try {
    await writeParts(checked(request, limit), partBytes, (part, bytes) => insertBodyPart(db, eventId, part, bytes))
  } catch (error) {
    await deleteBody(db, eventId)
    throw error
  }
}

/** Stores a body that has been read, in parts. */
export async function storeBytes(db: Database, eventId: string, bytes: Buffer): Promise<void> {
  if (bytes.length > 0) {
    await writeParts(Readable.from([bytes]), partBytes, (part, of) => insertBodyPart(db, eventId, part, of))
  }
}

/** The body, as long as it does not exceed the limit. */
async function* checked(request: IncomingMessage, limit: BodyLimit): AsyncGenerator<Buffer> {
  let total = 0
  // A destroyed request could no longer be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer
    total += bytes.length
    await limit.check(total)
    yield bytes
  }
}
