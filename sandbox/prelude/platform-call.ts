import type { FetchFailure, HostCall, HostReply, Json, JsonObject } from '../protocol/contract.ts'
import type { CallSite } from '../isolate/call-site.ts'
import type { Platform } from '../isolate/platform.ts'
import { orAborted } from './abort.ts'
import { encodeBase64 } from './base64.ts'
import { Blob } from './blob.ts'
import type { FormData } from './form-data.ts'
import { Incoming } from './incoming.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import type { URL } from './url/url.ts'
import type { URLSearchParams } from './url/search-params.ts'

/**
 * Answers a request to the platform's own origin with a call to the host. Its headers are dropped, because the host
 * knows the caller. An aborted request is abandoned here; the host may still perform it. A reply in parts is aborted.
 *
 * @param toError makes the error of a reply that fails within
 */
export async function callPlatform(
  platform: Platform,
  request: Request,
  url: URL,
  { site, toError }: { site: CallSite; toError: (failure: FetchFailure) => Error },
): Promise<Response> {
  const token = tokenOf(request)
  const signal = Request.signalOf(request)
  const answer = callHost(platform, request, url, { token, site })
  const { status, body, stream, contentType } = await orAborted(answer, signal).catch((error: unknown) => {
    answer.then(
      (late) => late.stream !== undefined && platform.openReply(token, late.stream).cancel(),
      () => {},
    )
    throw error
  })
  if (typeof body === 'string') return new Response(body, { status })
  if (stream === undefined) return Response.json(body, { status })
  const content = new Incoming(platform.openReply(token, stream), toError, signal)
  const head = { status, statusText: 'OK', headers: [['content-type', contentType]] as [string, string][] }
  return Response.of(content, head, { url: url.href, redirected: false })
}

/** A reply, or the name of the stream in which it comes. */
interface Answer extends HostReply {
  stream?: string
  contentType: string
}

/** The run does not end before the call is made, however long the body is read: code may not wait for the answer. */
async function callHost(
  platform: Platform,
  request: Request,
  url: URL,
  { token, site }: { token: string; site: CallSite },
): Promise<Answer> {
  const release = platform.hold(token)
  let reply: Promise<string>
  try {
    reply = platform.call(token, JSON.stringify(await toHostCall(request, url)), site)
  } finally {
    release()
  }
  return JSON.parse(await reply) as Answer
}

async function toHostCall(request: Request, url: URL): Promise<HostCall> {
  const query = queryOf(url.searchParams)
  const body = isForm(request) ? formOf(await request.formData()) : toBody(await request.text())
  return {
    method: request.method,
    path: url.pathname,
    ...(Object.keys(query).length > 0 && { query }),
    ...(body !== undefined && { body: withHeader(request, body) }),
  }
}

function isForm({ headers }: Request): boolean {
  return /^multipart\/form-data\b/i.test(headers.get('content-type') ?? '')
}

function toBody(text: string): Json | undefined {
  return text === '' ? undefined : toJson(text)
}

/** A form as JSON: a field `name[]` becomes a list, and a file its bytes in base64. */
function formOf(form: FormData): JsonObject {
  const names = new Set(form.keys())
  return Object.fromEntries(
    Array.from(names, (name) => {
      const values = form.getAll(name).map((value) => {
        if (typeof value === 'string') return value
        return { name: value.name, type: value.type, base64: encodeBase64(Blob.bytesOf(value)) }
      })
      return name.endsWith('[]') ? [name.slice(0, -2), values] : [name, values[0]!]
    }),
  )
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
