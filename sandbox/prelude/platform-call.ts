import type { HostCall, HostReply, Json, JsonObject } from '../protocol/contract.ts'
import type { CallSite } from '../isolate/call-site.ts'
import type { Platform } from '../isolate/platform.ts'
import { orAborted } from './abort.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import type { URL } from './url/url.ts'
import type { URLSearchParams } from './url/search-params.ts'

/**
 * Answers a request to the platform's own origin with a call to the host. Its headers are dropped, because the host
 * knows the caller. An aborted request is abandoned here; the host may still perform it.
 */
export async function callPlatform(platform: Platform, request: Request, url: URL, site: CallSite): Promise<Response> {
  const call = JSON.stringify(await toHostCall(request, url))
  const answer = orAborted(platform.call(tokenOf(request), call, site), Request.signalOf(request))
  const { status, body } = JSON.parse(await answer) as HostReply
  return Response.json(body, { status })
}

async function toHostCall(request: Request, url: URL): Promise<HostCall> {
  const query = queryOf(url.searchParams)
  const text = await request.text()
  return {
    method: request.method,
    path: url.pathname,
    ...(Object.keys(query).length > 0 && { query }),
    ...(text !== '' && { body: withHeader(request, toJson(text)) }),
  }
}

/** A repeated name becomes a list. */
function queryOf(parameters: URLSearchParams): JsonObject {
  const names = new Set(parameters.keys())
  return Object.fromEntries(
    Array.from(names, (name) => {
      const values = parameters.getAll(name)
      return [name, values.length === 1 ? values[0]! : values]
    }),
  )
}

/** The host takes no headers; the field of an operation that is one crosses in the body, as the client of bot code sends it. */
function withHeader({ headers }: Request, body: Json): Json {
  const name = 'x-destination-bot-id'
  const value = headers.get(name)
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return value !== null && isObject ? { ...body, [name]: value } : body
}

/** Text that is not JSON crosses as a string, for the host to refuse. */
function toJson(text: string): NonNullable<HostCall['body']> | null {
  try {
    return JSON.parse(text) as NonNullable<HostCall['body']>
  } catch {
    return text
  }
}

function tokenOf({ headers }: Request): string {
  return (headers.get('authorization') ?? '').replace(/^Bearer /i, '')
}
