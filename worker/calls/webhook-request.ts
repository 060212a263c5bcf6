import { isUtf8 } from 'node:buffer'
import type { JsonObject } from '#sandbox/contract.ts'
import type { Context } from '#shared/context.ts'
import { allowedLimits } from '#shared/limit-settings.ts'
import type { WebhookRequest } from '#shared/models/webhook.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import { bodyLength, readBodyParts } from '#shared/store/webhook-bodies.ts'
import { Unrunnable } from './call.ts'

const megabyte = 1024 * 1024

/** An isolate holds a body several times: in the text that crosses, in the argument, and in what the code makes of it. */
const shareOfMemory = 1 / 4

/**
 * The request behind a webhook's event, as code gets it. The body is one string; one that is not UTF-8 is in base64, and
 * `isBase64` says so.
 *
 * @throws Unrunnable when the isolate could not hold it
 */
export async function readWebhookRequest({ db, config }: Context, event: ClaimedEvent): Promise<JsonObject> {
  const { memoryMegabytes } = allowedLimits(config.sandbox, event.limits)
  const length = await bodyLength(db, event.id)
  if (length > memoryMegabytes * megabyte * shareOfMemory) {
    const size = `${Math.ceil(length / megabyte)} MB`
    throw new Unrunnable('memory', `The request’s body of ${size} is too large for an isolate of ${memoryMegabytes} MB`)
  }
  const request = event.payload as unknown as WebhookRequest
  const bytes = length > 0 ? await readBodyParts(db, event.id) : undefined
  if (!bytes) return { ...request }
  return isUtf8(bytes)
    ? { ...request, body: bytes.toString() }
    : { ...request, body: bytes.toString('base64'), isBase64: true }
}
