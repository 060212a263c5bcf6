import { ApiError, notFound } from '#shared/errors.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { EventRow } from '#shared/models/tables.ts'
import { headersToPassOn, maxHeaderBytes, maxHeaders } from './headers.ts'

export interface WebhookReply {
  status: number
  headers: Record<string, string>
  body?: string | Buffer
}

/**
 * Under this policy, browsers give a page an opaque origin. Without it, a page that an integration returns would have
 * all rights of the platform's own pages.
 */
const ownOrigin = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts allow-top-navigation'

/**
 * The answer to the request of a completed event: the value that the code returned, `{ status?, headers?, body?,
 * isBase64? }`. A body that is no string is sent as JSON. Only the bot's log has the reason why code did not answer.
 */
export function toWebhookReply(event: EventRow): WebhookReply {
  const { status: ended, id, result } = event
  if (ended === 'ignored') return toErrorReply(notFound('Webhook', 'its integration was removed'))
  return replyOf(result) ?? noAnswer(id)
}

/** The answer that code or a script made; undefined when it is none. */
export function replyOf(result: unknown): WebhookReply | undefined {
  if (!isRecord(result)) return undefined
  const { status = 200, headers, body, isBase64 } = result
  if (!isStatus(status)) return undefined
  const passedOn = headersToPassOn(isRecord(headers) ? headers : {})
  if (!passedOn) return tooManyHeaders()
  const isText = typeof body === 'string'
  const content = isText || body === undefined ? body : JSON.stringify(body)
  return {
    status,
    headers: {
      ...(!isText && body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
      ...passedOn,
      'content-security-policy': ownOrigin,
      'x-content-type-options': 'nosniff',
    },
    ...(content !== undefined && { body: isBase64 === true ? Buffer.from(content, 'base64') : content }),
  }
}

function noAnswer(eventId: string): WebhookReply {
  const message = `The integration did not answer: the bot’s log has the reason under event ${eventId}`
  return toErrorReply(new ApiError('Internal', message))
}

function tooManyHeaders(): WebhookReply {
  const message = `The integration answered with more than ${maxHeaders} headers, or with headers of more than ${maxHeaderBytes} bytes`
  return toErrorReply(new ApiError('Internal', message))
}

export function toErrorReply(error: ApiError): WebhookReply {
  const { status, retryAfterSeconds } = error
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  }
  return { status, headers, body: JSON.stringify(error) }
}

/** Excludes informational statuses, which are no final answers. */
function isStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599
}
