import type { HostCall, HostReply, JsonObject } from '../contract.ts'
import type { Platform } from '../inside/platform.ts'
import { orAborted } from './abort.ts'
import { Request, type RequestOptions } from './request.ts'
import { Response } from './response.ts'

export type Fetch = (input: unknown, options?: RequestOptions) => Promise<Response>

/**
 * Makes `fetch`, which turns requests to the platform's origin into calls of the host. Their headers are not passed on:
 * the host knows who calls. An aborted request is given up here, and may still be answered there.
 */
export function createFetch(platform: Platform): Fetch {
  return async (input, options) => {
    const request = new Request(input, options)
    const { signal } = request
    signal?.throwIfAborted()
    const url = new URL(request.url)
    assertPlatform(url, platform.environment['BP_API_URL'])
    const call = JSON.stringify(await toHostCall(request, url))
    const answer = orAborted(platform.call(tokenOf(request), call), signal)
    const { status, body } = JSON.parse(await answer) as HostReply
    return Response.json(body, { status })
  }
}

function assertPlatform({ origin, host }: URL, base: string | undefined): void {
  const own = base === undefined || base === '' ? undefined : new URL(base).origin
  if (origin === own) return
  const reached = own === undefined ? 'and BP_API_URL, where the platform is, is not set' : `but ${own} can`
  throw new TypeError(`fetch failed: ${host} can not be reached from here, ${reached}`)
}

async function toHostCall(request: Request, url: URL): Promise<HostCall> {
  const query = queryOf(url.searchParams)
  const text = await request.text()
  return {
    method: request.method,
    path: url.pathname,
    ...(Object.keys(query).length > 0 && { query }),
    ...(text !== '' && { body: toJson(text) }),
  }
}

/** A name that comes more than once has a list. */
function queryOf(parameters: URLSearchParams): JsonObject {
  const names = new Set(parameters.keys())
  return Object.fromEntries(
    Array.from(names, (name) => {
      const values = parameters.getAll(name)
      return [name, values.length === 1 ? values[0]! : values]
    }),
  )
}

/** What is not JSON crosses as a string, for the host to refuse. */
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
