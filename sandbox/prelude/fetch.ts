import { platformUrl, type FetchFailure, type FetchRequest } from '../protocol/contract.ts'
import { callSite, placeAt, type CallSite } from '../isolate/call-site.ts'
import type { Fetched } from '../isolate/fetches.ts'
import type { Platform } from '../isolate/platform.ts'
import { orAborted, type AbortSignal } from './abort.ts'
import { decodeBase64, encodeBase64 } from './base64.ts'
import type { Content } from './body.ts'
import { takeContent } from './content-key.ts'
import { Incoming } from './incoming.ts'
import { normalMediaType } from './media-type.ts'
import { partBytes } from '../protocol/units.ts'
import { inParts, type OutgoingBody } from './outgoing-body.ts'
import { callPlatform } from './platform-call.ts'
import { Request, type RequestOptions } from './request.ts'
import { Response } from './response.ts'
import { URL } from './url/url.ts'

type Answered = Exclude<Fetched['answer'], FetchFailure>

export type Fetch = (input: unknown, options?: RequestOptions) => Promise<Response>

/** Makes `fetch`. The host makes the requests and enforces the permitted addresses. */
export function createFetch(platform: Platform): Fetch {
  const own = new URL(platform.environment['BP_API_URL'] || platformUrl).origin
  const fetch: Fetch = async (input, options) => {
    const site = callSite(fetch)
    const request = new Request(input, options)
    Request.signalOf(request)?.throwIfAborted()
    const url = new URL(request.url)
    if (url.protocol === 'data:') return fromData(request)
    return url.origin === own
      ? callPlatform(platform, request, url, { site, toError })
      : fetchOutside(platform, request, site)
  }
  return fetch
}

/** The response of a data URL, of which `fetch` needs no host. */
function fromData(request: Request): Response {
  const [, type, isBase64, data] = /^data:([^,]*?)(; *base64 *)?,(.*)$/is.exec(withoutFragment(request.url)) ?? []
  if (data === undefined) throw new TypeError('The data URL cannot be fetched')
  const codes = percentDecoded(data)
  const content = isBase64 ? decodeBase64(codes.replace(/[\t\n\f\r ]/g, '')) : Uint8Array.from(codes, toCode)
  if (!content) throw new TypeError('The base64 of the data URL is not valid')
  const mediaType = normalMediaType(type!.startsWith(';') ? `text/plain${type}` : type!)
  const headers = { 'content-type': mediaType ?? 'text/plain;charset=US-ASCII' }
  const body = request.method === 'HEAD' ? '' : content
  return new Response(body, { statusText: 'OK', headers }, { url: request.url, redirected: false })
}

/** The bytes of a text of a URL, which is ASCII, one character for each. A `%` without two digits stands for itself. */
function percentDecoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)))
}

function toCode(character: string): number {
  return character.charCodeAt(0)
}

async function fetchOutside(platform: Platform, request: Request, site: CallSite): Promise<Response> {
  const signal = Request.signalOf(request)
  const token = platform.token()
  const content = request[takeContent]()
  const outgoing = content === null || isShort(content) ? undefined : inParts(content)
  const text = JSON.stringify(toFetchRequest(request, outgoing ?? (content as string | Uint8Array | null)))
  const fetching = platform.fetch(token, text, site, outgoing?.next)
  signal?.addEventListener('abort', fetching.cancel, { once: true })
  try {
    const fetched = await orAborted(fetching.answer, signal)
    if ('failure' in fetched.answer) {
      const failure = outgoing?.failure()
      if (failure) throw failure.reason
      throw placeAt(site, 'TypeError', toError(fetched.answer))
    }
    return toResponse(request, fetched.answer, fetched, signal)
  } finally {
    signal?.removeEventListener('abort', fetching.cancel)
    outgoing?.cancel()
  }
}

/** Whether a body crosses with its request, as one text. */
function isShort(content: NonNullable<Content>): content is string | Uint8Array<ArrayBuffer> {
  return (typeof content === 'string' || content instanceof Uint8Array) && content.length <= partBytes
}

/** The request as the host reads it: of a body in parts, it has the size where that is known. */
type RequestText = Omit<FetchRequest, 'content'> & { content?: { bytes?: number } }

function toFetchRequest(request: Request, content: string | Uint8Array | OutgoingBody | null): RequestText {
  const { method, url, headers, redirect } = request
  return {
    method,
    url: withoutFragment(url),
    headers: Object.fromEntries(headers),
    redirect,
    ...(typeof content === 'string' && { body: content }),
    ...(content instanceof Uint8Array && { body: encodeBase64(content), isBase64: true }),
    ...(isOutgoing(content) && { content: content.size === undefined ? {} : { bytes: content.size } }),
  }
}

function isOutgoing(content: string | Uint8Array | OutgoingBody | null): content is OutgoingBody {
  return content !== null && typeof content !== 'string' && !(content instanceof Uint8Array)
}

function toResponse(
  request: Request,
  answer: Answered,
  { body, stream }: Fetched,
  signal: AbortSignal | undefined,
): Response {
  const { url, isBase64 } = answer
  const content = stream ? new Incoming(stream, toError, signal) : isBase64 ? (decodeBase64(body) ?? '') : body
  const redirected = withoutFragment(url) !== withoutFragment(request.url)
  return Response.of(content, answer, { url: withoutFragment(url), redirected })
}

/** Makes an error like that of Node's `fetch`, with the reason in the message as well. */
function toError({ failure, message }: FetchFailure): TypeError {
  const cause = Object.assign(new Error(message), { code: failure })
  return new TypeError(`fetch failed: ${message}`, { cause })
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '')
}
