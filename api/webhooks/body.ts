import type { IncomingMessage } from 'node:http'
import type { Database } from '#shared/store/database.ts'
import { deleteBody, insertBodyPart } from '#shared/store/webhook-bodies.ts'
import type { BodyLimit } from './limit.ts'

/** Bytes of a part in the database; a request holds at most this and one chunk of the connection in memory. */
export const partBytes = 1024 * 1024

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
    await storeParts(db, eventId, request, limit)
  } catch (error) {
    await deleteBody(db, eventId)
    throw error
  }
}

async function storeParts(db: Database, eventId: string, request: IncomingMessage, limit: BodyLimit): Promise<void> {
  let total = 0
  let parts = 0
  let held: Buffer[] = []
  let heldBytes = 0
  const flush = async () => {
    await insertBodyPart(db, eventId, parts, Buffer.concat(held))
    parts += 1
    held = []
    heldBytes = 0
  }
  // A destroyed request could no longer be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer
    total += bytes.length
    await limit.check(total)
    held.push(bytes)
    heldBytes += bytes.length
    if (heldBytes >= partBytes) await flush()
  }
  if (heldBytes > 0) await flush()
}
