import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { JsonList } from '#shared/json/json-list.ts'
import { smallAnswerBytes } from '#shared/rpc/hold-page.ts'
import { limitUnread, unreadMilliseconds } from './unread-limit.ts'

/** An answer with lists is sent in slices of this size, at the speed of the connection. */
const sliceBytes = 256 * 1024

interface Sending {
  /** Counts the bytes of a large answer; it may throw, and nothing is sent then. */
  hold?: ((bytes: number) => void) | undefined
  unreadMilliseconds?: number
}

/**
 * Sends a body as JSON, and a text as it is. Lists that are JSON already are sent as they are. A client that does not read the
 * answer is disconnected.
 *
 * @throws the error of `hold`
 */
export function sendJson(response: Response, body: unknown, sending: Sending = {}): void {
  const parts = hasLists(body) ? [...textsOf(body)] : undefined
  const text = parts ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const total = parts ? parts.reduce((sum, { length }) => sum + length, 0) : Buffer.byteLength(text)
  if (total > smallAnswerBytes) sending.hold?.(total)
  limitUnread(response, sending.unreadMilliseconds ?? unreadMilliseconds)
  response.type(typeof body === 'string' ? 'text/plain' : 'json')
  if (!parts) return void response.send(text)
  response.set('Content-Length', String(total))
  if (total <= sliceBytes) return void response.end(Buffer.concat(parts))
  // A connection that ends ends the answer.
  pipeline(Readable.from(slices(parts)), response).catch(() => {})
}

function hasLists(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && Object.values(body).some((value) => value instanceof JsonList)
}

function* textsOf(body: Record<string, unknown>): Generator<Buffer> {
  let separator = '{'
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    yield Buffer.from(`${separator}${JSON.stringify(name)}:`)
    if (value instanceof JsonList) yield* value.texts()
    else yield Buffer.from(JSON.stringify(value))
    separator = ','
  }
  yield Buffer.from('}')
}

function* slices(parts: Buffer[]): Generator<Buffer> {
  let slice: Buffer[] = []
  let bytes = 0
  for (const part of parts) {
    slice.push(part)
    bytes += part.length
    if (bytes < sliceBytes) continue
    yield Buffer.concat(slice)
    slice = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(slice)
}
