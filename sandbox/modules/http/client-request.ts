import { Writable, type Duplex } from 'stream'
import { bodyOfAnyMethod, takeContent } from '../../prelude/content-key.ts'
import { partBytes } from '../../protocol/units.ts'
import { refuseOptions } from '../sockets/refused-options.ts'
import type { Agent } from './agent.ts'
import { toSocketError } from './errors.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { OutgoingHeaders, setAll } from './headers.ts'
import { IncomingMessage, type IncomingContent } from './incoming-message.ts'
import { addressOf, toOptions, type RequestOptions } from './options.ts'
import { OutgoingParts } from './outgoing.ts'
import { RequestSocket } from './socket.ts'
import { asksForUpgrade, headOf, readAnswer, RefusalBody } from './upgrade.ts'

const noBody = new Set(['GET', 'HEAD'])

// Libraries that use `fetch` in place of `http` here send what they would send by `http`.
Object.defineProperty(Request, bodyOfAnyMethod, { value: true })

type Answer = Response & { [takeContent](): IncomingContent }

/**
 * A request, as Node's `ClientRequest`, over the guarded `fetch`. A short body is sent whole when it is complete, a
 * longer one as it is written.
 */
export class ClientRequest extends Writable {
  readonly method: string
  readonly protocol: string
  readonly host: string
  readonly path: string
  readonly socket: RequestSocket
  readonly reusedSocket = false
  readonly maxHeadersCount = null
  readonly agent: RequestOptions['agent']
  readonly timeout: number | undefined
  shouldKeepAlive = false
  aborted = false
  headersSent = false
  res: IncomingMessage | undefined
  readonly #headers = new OutgoingHeaders()
  readonly #url: string
  readonly #controller = new AbortController()
  #written: Uint8Array[] = []
  #writtenBytes = 0
  #streaming: OutgoingParts | undefined
  /** Opens the connection that goes on in another protocol. */
  #connect: (() => Duplex) | undefined
  #connection: Duplex | undefined

  constructor(protocol: string, values: unknown[], globalAgent?: Agent) {
    // The request is over with its response, and not with its body.
    super({ autoDestroy: false })
    const { options, listener } = toOptions(values)
    if (options.protocol && options.protocol !== protocol) {
      const message = `Protocol "${options.protocol}" not supported. Expected "${protocol}"`
      throw codedError('ERR_INVALID_PROTOCOL', message, TypeError)
    }
    if (options.socketPath)
      throw codedError('ERR_METHOD_NOT_IMPLEMENTED', 'socketPath is not available: isolates have no sockets')
    const { agent = globalAgent } = options
    const { url, host, path } = addressOf(options, protocol)
    this.#url = url
    this.protocol = protocol
    this.host = options.hostname || options.host || 'localhost'
    this.path = path
    this.method = (options.method || 'GET').toUpperCase()
    this.agent = options.agent
    setAll(this.#headers, options.headers)
    if (!this.#headers.has('host')) this.#headers.set('host', host)
    if (options.auth && !this.#headers.has('authorization')) {
      this.#headers.set('authorization', `Basic ${Buffer.from(options.auth).toString('base64')}`)
    }
    if (options.createConnection && asksForUpgrade(this.method, this.#headers)) {
      const { createConnection, ...others } = options
      const port = Number(options.port || options.defaultPort || (protocol === 'https:' ? 443 : 80))
      this.#connect = () => createConnection({ ...others, host: this.host, port, path: undefined })
    } else refuseOptions('http', { ...(agent || undefined)?.options, ...options })
    this.socket = new RequestSocket(protocol === 'https:', (error) => this.destroy(error))
    this.timeout = options.timeout ?? (options.agent || undefined)?.options?.timeout
    if (this.timeout) this.setTimeout(this.timeout)
    if (typeof listener === 'function') this.once('response', listener as () => void)
    this.#follow(options.signal)
    queueMicrotask(() => {
      this.emit('socket', this.socket)
      if (this.#headers.has('expect')) this.emit('continue')
    })
  }

  #follow(signal: AbortSignal | undefined): void {
    if (!signal) return
    const abort = () => {
      const error = Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' })
      this.destroy(Object.assign(error, { cause: signal.reason as unknown }))
    }
    if (signal.aborted) return queueMicrotask(abort)
    signal.addEventListener('abort', abort, { once: true })
    this.once('close', () => signal.removeEventListener('abort', abort))
  }

  get connection(): RequestSocket {
    return this.socket
  }

  get finished(): boolean {
    return this.writableEnded
  }

  /** Libraries of older versions of Node read it. */
  get _headers(): object {
    return this.getHeaders()
  }

  setHeader(name: string, value: unknown): this {
    this.#assertUnsent()
    this.#headers.set(name, value)
    return this
  }

  appendHeader(name: string, value: string): this {
    this.#assertUnsent()
    this.#headers.append(name, value)
    return this
  }

  setHeaders(headers: Iterable<[string, string]>): this {
    this.#assertUnsent()
    setAll(this.#headers, headers)
    return this
  }

  getHeader(name: string): unknown {
    return this.#headers.get(name)
  }

  getHeaders(): object {
    return this.#headers.toObject()
  }

  getHeaderNames(): string[] {
    return this.#headers.names()
  }

  getRawHeaderNames(): string[] {
    return this.#headers.rawNames()
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name)
  }

  removeHeader(name: string): void {
    this.#assertUnsent()
    this.#headers.remove(name)
  }

  /** Sends the request before its body is complete. */
  flushHeaders(): void {
    if (!this.headersSent && !noBody.has(this.method)) this.#stream()
  }

  setTimeout(milliseconds: number, callback?: () => void): this {
    if (callback !== undefined) this.once('timeout', callback)
    this.socket.removeListener('timeout', this.#timedOut)
    this.socket.once('timeout', this.#timedOut)
    this.socket.setTimeout(milliseconds)
    return this
  }

  readonly #timedOut = (): void => {
    this.emit('timeout')
  }

  setNoDelay(): void {}

  setSocketKeepAlive(): void {}

  onSocket(): void {}

  abort(): void {
    if (this.aborted) return
    this.aborted = true
    queueMicrotask(() => this.emit('abort'))
    this.destroy()
  }

  override _write(chunk: Uint8Array, _encoding: string, callback: () => void): void {
    this.socket.active()
    if (this.#streaming) return this.#streaming.push(chunk, callback)
    this.#written.push(chunk)
    this.#writtenBytes += chunk.length
    if (this.#writtenBytes > partBytes) this.#stream()
    callback()
  }

  override _final(callback: () => void): void {
    if (this.#streaming) this.#streaming.end()
    else void this.#send(this.#writtenBytes > 0 ? Buffer.concat(this.#written) : undefined)
    this.#written = []
    callback()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const isOver = this.res?.complete === true
    this.#connection?.destroy()
    const hungUp = codedError('ECONNRESET', 'socket hang up')
    this.#streaming?.fail(hungUp)
    if (!isOver) this.#controller.abort(hungUp)
    if (this.res && !isOver) this.res.destroy(error ?? undefined)
    this.socket.close()
    callback(error ?? (this.res || isOver ? null : hungUp))
  }

  #stream(): void {
    const length = Number(this.#headers.get('content-length') ?? Number.NaN)
    const parts = new OutgoingParts(Number.isSafeInteger(length) && length >= 0 ? length : undefined)
    for (const bytes of this.#written) parts.push(bytes, () => {})
    this.#written = []
    this.#streaming = parts
    void this.#send(parts)
  }

  async #send(body: Uint8Array | OutgoingParts | undefined): Promise<void> {
    this.headersSent = true
    if (this.#connect) return this.#upgrade(this.#connect)
    const { signal } = this.#controller
    const options = { method: this.method, headers: this.#headers.toPairs(), redirect: 'manual' as const, signal }
    try {
      const response = await fetch(this.#url, { ...options, ...(body && { body: body as never }) })
      this.#receive(response as Answer)
    } catch (error) {
      if (!this.destroyed) this.destroy(toSocketError(error) as Error)
    }
  }

  #receive(response: Answer): void {
    if (this.destroyed) return
    this.socket.active()
    const content = response[takeContent]()
    const res = new IncomingMessage(this.socket).receive(response, content, this.method === 'HEAD')
    res.req = this
    this.res = res
    this.#deliver(res)
  }

  #deliver(res: IncomingMessage): void {
    res.once('end', () => this.#complete())
    res.once('close', () => this.#complete())
    // Without a listener, the response would never be read.
    if (!this.emit('response', res)) res.resume()
  }

  /** Sends the request over a connection of the code, which from then on is the connection of the other protocol. */
  async #upgrade(connect: () => Duplex): Promise<void> {
    try {
      const head = headOf(this.path, this.#headers)
      const socket = connect()
      this.#connection = socket
      socket.write(head)
      const answer = await readAnswer(socket)
      if (this.destroyed) return
      this.socket.active()
      const res = new IncomingMessage(this.socket)
      res.req = this
      this.res = res
      if (answer.status !== 101) {
        res.receive(answer, new RefusalBody(socket, answer), false)
        return this.#deliver(res)
      }
      res.receive(answer, null, true)
      res.complete = true
      this.#connection = undefined
      if (!this.emit('upgrade', res, socket, Buffer.from(answer.rest))) socket.destroy()
      this.#complete()
    } catch (error) {
      if (!this.destroyed) this.destroy(error as Error)
    }
  }

  #complete(): void {
    if (!this.destroyed) this.destroy()
  }

  #assertUnsent(): void {
    if (this.headersSent) {
      throw codedError('ERR_HTTP_HEADERS_SENT', 'Cannot set headers after they are sent to the client')
    }
  }
}
