import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'

/** A content that a request has in base64. */
export interface SentContent {
  size: number
  /** Opens it, once for each request. */
  read(): Readable
}

/** A reference in place of the base64 of a content: characters of base64, of which 128 bits are random. */
const form = /(isobot[0-9a-f]{32})/
const contents = new Map<string, SentContent>()

/**
 * Makes a reference to a content, which stands for its base64 in what the libraries of providers get. They copy a text several times, and keep
 * it until the answer: six bytes and a half for each byte of a file.
 *
 * @returns the reference, which is good until it is disposed of
 */
export function referToContent({ size, read }: SentContent): Disposable & { reference: string } {
  const reference = `isobot${randomBytes(16).toString('hex')}`
  const open = new Set<Readable>()
  const tracked = () => {
    const stream = read()
    open.add(stream)
    return stream
  }
  contents.set(reference, { size, read: tracked })
  return {
    reference,
    [Symbol.dispose]() {
      contents.delete(reference)
      // A request that was aborted leaves its body where it was.
      for (const stream of open) stream.destroy()
    },
  }
}

/** Replaces the references in the body of a request by the contents, which are read as the provider receives them. */
export function withContents(init: RequestInit | undefined): RequestInit | undefined {
  if (typeof init?.body !== 'string') return init
  const parts = init.body.split(form).map((part) => contents.get(part) ?? Buffer.from(part))
  if (parts.every((part) => Buffer.isBuffer(part))) return init
  const headers = new Headers(init.headers)
  headers.set('content-length', String(parts.reduce((sum, part) => sum + lengthOf(part), 0)))
  const body = ReadableStream.from(bytesOf(parts))
  // A window, too, would make `fetch` keep a copy. The types of browsers, by which the console is checked, do not fit.
  const streamed: object = { headers, body, duplex: 'half', window: null }
  return { ...init, ...streamed }
}

function lengthOf(part: Buffer | SentContent): number {
  return Buffer.isBuffer(part) ? part.length : Math.ceil(part.size / 3) * 4
}

async function* bytesOf(parts: readonly (Buffer | SentContent)[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part
    else yield* inBase64(part.read())
  }
}

async function* inBase64(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const part of content) {
    const bytes = rest.length === 0 ? part : Buffer.concat([rest, part])
    const whole = bytes.length - (bytes.length % 3)
    yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1')
    rest = bytes.subarray(whole)
  }
  yield Buffer.from(rest.toString('base64'), 'latin1')
}
