import { Buffer } from 'buffer'
import type { FetchFailure, FetchRequest } from '../contract.ts'
import type { Fetched } from '../inside/fetches.ts'
import type { Platform } from '../inside/platform.ts'
import { orAborted } from './abort.ts'
import { take } from './body.ts'
import { callPlatform } from './platform-call.ts'
import { Request, type RequestOptions } from './request.ts'
import { Response } from './response.ts'

export type Fetch = (input: unknown, options?: RequestOptions) => Promise<Response>

/** Makes `fetch`. Requests are made outside of the isolate, by those who know where they may go. */
export function createFetch(platform: Platform): Fetch {
  const base = platform.environment['BP_API_URL']
  const own = base === undefined || base === '' ? undefined : new URL(base).origin
  return async (input, options) => {
    const request = new Request(input, options)
    request.signal?.throwIfAborted()
    const url = new URL(request.url)
    return url.origin === own ? callPlatform(platform, request, url) : fetchOutside(platform, request)
  }
}

async function fetchOutside(platform: Platform, request: Request): Promise<Response> {
  const { signal } = request
  const fetching = platform.fetch(JSON.stringify(toFetchRequest(request)))
  signal?.addEventListener('abort', fetching.cancel, { once: true })
  try {
    return toResponse(request, await orAborted(fetching.answer, signal))
  } finally {
    signal?.removeEventListener('abort', fetching.cancel)
  }
}

function toFetchRequest(request: Request): FetchRequest {
  const { method, url, headers, redirect } = request
  const content = request[take]()
  return {
    method,
    url: withoutFragment(url),
    headers: Object.fromEntries(headers),
    redirect,
    ...(typeof content === 'string' && { body: content }),
    ...(content instanceof Uint8Array && { body: Buffer.from(content).toString('base64'), isBase64: true }),
  }
}

function toResponse(request: Request, { answer, body }: Fetched): Response {
  if ('failure' in answer) throw toError(answer)
  const { url, isBase64 } = answer
  const content = isBase64 ? Buffer.from(body, 'base64') : body
  const redirected = withoutFragment(url) !== withoutFragment(request.url)
  return new Response(content, answer, { url: withoutFragment(url), redirected })
}

/** As Node's `fetch` fails, with the reason in the message as well. */
function toError({ failure, message }: FetchFailure): TypeError {
  const cause = Object.assign(new Error(message), { code: failure })
  return new TypeError(`fetch failed: ${message}`, { cause })
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '')
}
