import { validateHeaderName, validateHeaderValue } from 'node:http'
import { ApiError } from '#shared/errors.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { EventRow } from '#shared/store/tables.ts'

export interface WebhookReply {
  status: number
  headers: Record<string, string>
  body?: string | Buffer
}

/**
 * What concerns one connection only, or is ours to say; and what browsers keep for the whole address, which integrations
 * share with each other and with us: cookies, and policies.
 */
const notPassedOn = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-length',
  'keep-alive',
  'nel',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'report-to',
  'set-cookie',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Browsers give a page under this policy an origin of its own. Without it, a page that an integration answers with could
 * do everything that a page of ours can.
 */
const ownOrigin = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts allow-top-navigation'

/**
 * The answer to the request behind an event that has ended: what the code returned, `{ status?, headers?, body?,
 * isBase64? }`. A body that is no string is sent as JSON. Why code did not answer is its bot's business alone.
 */
export function toWebhookReply(event: EventRow): WebhookReply {
  const { status: ended, id, result } = event
  if (ended === 'ignored') return toErrorReply(new ApiError('ResourceNotFound', 'There is no webhook here any more'))
  if (!isRecord(result)) return noAnswer(id)
  const { status = 200, headers, body, isBase64 } = result
  if (!isStatus(status)) return noAnswer(id)
  const isText = typeof body === 'string'
  const content = isText || body === undefined ? body : JSON.stringify(body)
  return {
    status,
    headers: {
      ...(!isText && body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
      ...passOn(isRecord(headers) ? headers : {}),
      'content-security-policy': ownOrigin,
      'x-content-type-options': 'nosniff',
    },
    ...(content !== undefined && { body: isBase64 === true ? Buffer.from(content, 'base64') : content }),
  }
}

function noAnswer(eventId: string): WebhookReply {
  const message = `The integration could not answer; the log of its bot tells why, under event ${eventId}`
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

/** Informational statuses are no answers. */
function isStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599
}

function passOn(headers: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const)
  const named = given.find(([name]) => name === 'connection')?.[1] ?? ''
  const ofConnection = new Set(named.split(',').map((name) => name.trim().toLowerCase()))
  return Object.fromEntries(
    given.filter(([name, value]) => !notPassedOn.has(name) && !ofConnection.has(name) && isValid(name, value)),
  )
}

function isValid(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}
