import { isUtf8 } from 'node:buffer'
import type { ByteSource, FetchFailure, JsonObject } from '#sandbox/protocol/contract.ts'
import type { Context } from '#shared/context.ts'
import { allowedLimits } from '#shared/config/limit-settings.ts'
import { maxWholeBytes, type WebhookRequest } from '#shared/models/webhook.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import { bodyLength, readBodyPart, readBodyParts } from '#shared/store/webhook-bodies.ts'
import { megabyte } from '#shared/units.ts'

/** Maximum of retries for reading one part. */
const maxRetries = 5

/** A webhook's request, as code receives it. */
export interface IncomingRequest {
  /** The body is one string; a body that is not UTF-8 is in base64, and `isBase64` is set. */
  request: JsonObject
  /** Set when the body is omitted, because an isolate could not hold it in one piece. */
  refusal?: string
  /** Reads the body in parts, without a limit on its size. */
  openBody: () => ByteSource
}

/** The request behind a webhook's event. */
export async function readWebhookRequest(context: Context, event: ClaimedEvent): Promise<IncomingRequest> {
  const { db, config } = context
  const { memoryMegabytes } = allowedLimits(config.sandbox, event.limits)
  const length = await bodyLength(db, event.id)
  const request = event.payload as unknown as WebhookRequest
  const openBody = () => readInParts(context, event.id, length)
  if (length > maxWholeBytes(memoryMegabytes)) {
    const size = `${Math.ceil(length / megabyte)} MB`
    const refusal = `The request’s body of ${size} does not fit into an isolate of ${memoryMegabytes} MB: read it in parts with request.stream()`
    return { request: { ...request }, refusal, openBody }
  }
  const bytes = length > 0 ? await readBodyParts(db, event.id) : undefined
  return { request: { ...request, ...(bytes && toText(bytes)) }, openBody }
}

function toText(bytes: Buffer): { body: string; isBase64?: true } {
  return isUtf8(bytes) ? { body: bytes.toString() } : { body: bytes.toString('base64'), isBase64: true }
}

/** Reads a body one stored part at a time. A repeated run reads the same bytes. */
async function* readInParts(
  context: Context,
  eventId: string,
  length: number,
): AsyncGenerator<Uint8Array | FetchFailure> {
  let bytes = 0
  for (let part = 0; bytes < length; part += 1) {
    const chunk = await readWhenUp(context, eventId, part)
    if (!chunk) {
      yield { failure: 'gone', message: 'The request’s body is no longer available' }
      return
    }
    bytes += chunk.length
    yield chunk
  }
}

/** Hides outages of the database from code: the read waits until the database is up. */
async function readWhenUp({ db, dependencies }: Context, eventId: string, part: number): Promise<Buffer | undefined> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await readBodyPart(db, eventId, part)
    } catch (error) {
      if (retries >= maxRetries) throw error
      await dependencies.database.waitUntilUp()
    }
  }
}
