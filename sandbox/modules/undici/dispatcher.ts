import { EventEmitter } from 'events'
import { request as requestPlain, type ClientRequest, type IncomingMessage } from 'http'
import { request as requestEncrypted } from 'https'
import { Readable } from 'stream'

/** The options of `dispatch` that have an effect here. */
interface DispatchOptions {
  origin?: string | URL
  path: string
  method?: string
  body?: unknown
  headers?: unknown
  query?: Record<string, unknown>
}

/** How code ends and delays a response. */
interface Controller {
  paused: boolean
  aborted: boolean
  reason: Error | null
  rawHeaders: Buffer[]
  rawTrailers: Buffer[]
  abort(reason?: Error): void
  pause(): void
  resume(): void
}

/** Receives a response; versions before 7 have other methods than later ones. */
interface Handler {
  onConnect?(abort: (reason?: Error) => void, context: null): void
  onHeaders?(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean | undefined
  onData?(chunk: Buffer): boolean | undefined
  onComplete?(trailers: Buffer[]): void
  onError?(error: Error): void
  onRequestStart?(controller: Controller, context: null): void
  onResponseStart?(controller: Controller, status: number, headers: object, statusText: string): void
  onResponseData?(controller: Controller, chunk: Buffer): void
  onResponseEnd?(controller: Controller, trailers: object): void
  onResponseError?(controller: Controller, error: Error): void
}

/**
 * The default dispatcher of `undici`, which sends its requests through the guarded `fetch`, as `http` does. Without it, `undici` opens
 * connections of its own and reads answers with a program in WebAssembly.
 */
export class GuardedDispatcher extends EventEmitter {
  // oxlint-disable-next-line class-methods-use-this -- Code calls it as a method.
  dispatch(options: DispatchOptions, handler: Handler): boolean {
    let request: ClientRequest | undefined
    let response: IncomingMessage | undefined
    let hasEnded = false
    const fail = (error: Error) => {
      if (hasEnded) return
      hasEnded = true
      if (handler.onResponseError) handler.onResponseError(controller, error)
      else handler.onError?.(error)
    }
    const controller: Controller = {
      paused: false,
      aborted: false,
      reason: null,
      rawHeaders: [],
      rawTrailers: [],
      abort(given) {
        if (controller.aborted) return
        const reason = given ?? new DOMException('Request aborted', 'AbortError')
        Object.assign(controller, { aborted: true, reason })
        request?.destroy(reason)
        fail(reason)
      },
      pause() {
        controller.paused = true
        response?.pause()
      },
      resume() {
        controller.paused = false
        response?.resume()
      },
    }
    // What a handler throws ends its request, as in undici.
    const attempt = (work: () => void) => {
      try {
        work()
      } catch (error) {
        request?.destroy()
        fail(error as Error)
      }
    }
    attempt(() => {
      if (handler.onRequestStart) handler.onRequestStart(controller, null)
      else handler.onConnect?.(controller.abort, null)
      if (controller.aborted) return
      request = open(options)
      request.on('error', fail)
      request.on('response', (received: IncomingMessage) => {
        response = received
        attempt(() => begin(received))
      })
      sendBody(request, options.body, fail)
    })

    function begin(received: IncomingMessage): void {
      const { statusCode = 0, statusMessage = '', headers, rawHeaders } = received
      controller.rawHeaders = rawHeaders.map((text) => Buffer.from(text, 'latin1'))
      received.on('data', (chunk: Buffer) => attempt(() => pass(chunk)))
      received.on('error', fail)
      received.on('end', () => attempt(finish))
      if (handler.onResponseStart) handler.onResponseStart(controller, statusCode, headers, statusMessage)
      else if (handler.onHeaders?.(statusCode, controller.rawHeaders, controller.resume, statusMessage) === false)
        controller.pause()
      if (controller.paused) received.pause()
    }

    function pass(chunk: Buffer): void {
      if (hasEnded) return
      if (handler.onResponseData) handler.onResponseData(controller, chunk)
      else if (handler.onData?.(chunk) === false) controller.pause()
    }

    function finish(): void {
      if (hasEnded) return
      hasEnded = true
      if (handler.onResponseEnd) handler.onResponseEnd(controller, {})
      else handler.onComplete?.([])
    }

    return true
  }

  // oxlint-disable-next-line class-methods-use-this -- Code calls it as a method.
  async close(callback?: () => void): Promise<void> {
    callback?.()
  }

  // oxlint-disable-next-line class-methods-use-this -- Code calls it as a method.
  async destroy(first?: unknown, second?: unknown): Promise<void> {
    const callback = [first, second].find((each) => typeof each === 'function') as (() => void) | undefined
    callback?.()
  }
}

function open({ origin, path, method = 'GET', headers, body, query }: DispatchOptions): ClientRequest {
  // A path may begin with two slashes, which name no host here.
  const url = new URL(new URL(String(origin)).origin + path)
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.append(name, String(value))
  const request = url.protocol === 'https:' ? requestEncrypted : requestPlain
  const type = hasOwnType(body) ? new Response(body).headers.get('content-type') : null
  const all = Object.fromEntries(pairsOf(headers))
  const isTyped = Object.keys(all).some((name) => name.toLowerCase() === 'content-type')
  // A form gets its boundary below, with its bytes.
  return request(url, {
    method,
    headers: type !== null && !isTyped && !isForm(body) ? { ...all, 'content-type': type } : all,
  })
}

/** Headers come as a list of names and values, as pairs, or as an object. */
function pairsOf(headers: unknown): [string, string | string[]][] {
  if (typeof headers !== 'object' || headers === null) return []
  if (Array.isArray(headers) && !Array.isArray(headers[0])) {
    return Array.from({ length: headers.length / 2 }, (_, index) => [
      textOf(headers[2 * index]),
      textOf(headers[2 * index + 1]),
    ])
  }
  const pairs = Symbol.iterator in headers ? (headers as Iterable<[unknown, unknown]>) : Object.entries(headers)
  return Array.from(pairs as Iterable<[unknown, unknown]>)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [textOf(name), Array.isArray(value) ? value.map(textOf) : textOf(value)])
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
}

function isForm(body: unknown): body is Iterable<[string, string | File]> {
  return tagOf(body) === 'FormData'
}

function hasOwnType(body: unknown): body is Blob | URLSearchParams {
  return ['Blob', 'File', 'URLSearchParams'].includes(tagOf(body))
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

function sendBody(request: ClientRequest, body: unknown, fail: (error: Error) => void): void {
  if (body === null || body === undefined) request.end()
  else if (typeof body === 'string' || body instanceof Uint8Array) request.end(body)
  else if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) request.end(bytesOf(body))
  else if (isForm(body)) pipe(encodeForm(request, body))
  else if (hasOwnType(body)) pipe(new Response(body).body!)
  else pipe(body)

  function pipe(source: unknown): void {
    const stream = isReadable(source)
      ? source
      : Readable.from(source as AsyncIterable<Uint8Array>, { objectMode: false })
    stream.on('error', (error: Error) => {
      request.destroy(error)
      fail(error)
    })
    stream.pipe(request)
  }
}

function isReadable(source: unknown): source is Readable {
  return typeof (source as { pipe?: unknown }).pipe === 'function'
}

function bytesOf(body: ArrayBuffer | ArrayBufferView): Buffer {
  return ArrayBuffer.isView(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : Buffer.from(body)
}

/** The form may be of the class that undici has itself. */
function encodeForm(request: ClientRequest, given: Iterable<[string, string | File]>): ReadableStream {
  const form = new FormData()
  for (const [name, value] of given) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, value.name)
  }
  const encoded = new Response(form)
  request.setHeader('content-type', encoded.headers.get('content-type')!)
  return encoded.body!
}
