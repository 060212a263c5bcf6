import type { IncomingMessage } from 'node:http'
import type { Database } from '#shared/store/database.ts'
import { deleteBody, insertBodyPart } from '#shared/store/webhook-bodies.ts'
import type { BodyLimit } from './limit.ts'

/** Of a part in the database, and so what a request holds of its body at most, but for one chunk of the connection. */
export const partBytes = 1024 * 1024

/**
 * Stores a request's body in parts, no faster than the database takes them. When it cannot be stored whole nothing of it
 * is kept.
 *
 * @param eventId the id of the event that there will be for the request
 * @param limit of the webhook
 * @throws ApiError `PayloadTooLarge`, before anything is read where the length is announced
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
  // A request that is destroyed could not be answered any more.
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
