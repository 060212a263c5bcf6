import { Readable } from 'stream'
import type { Incoming } from '../../prelude/incoming.ts'
import { toSocketError } from './errors.ts'
import { codedError } from '../../prelude/node-errors.ts'
import type { RequestSocket } from './socket.ts'
import type { RefusalBody } from './upgrade.ts'

/** The body of a response: whole, or in parts as they arrive. */
export type IncomingContent = string | Uint8Array | Incoming | RefusalBody | null

/** The codings that the platform removes. */
const decoded = new Set(['gzip', 'x-gzip', 'br', 'deflate', 'zstd', 'identity'])

interface Head {
  status: number
  statusText: string
  headers: Iterable<[string, string]>
}

/** A response, as Node's `IncomingMessage`. Parts are asked for as they are read. */
export class IncomingMessage extends Readable {
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly url = ''
  readonly method = null
  readonly trailers = {}
  readonly rawTrailers = []
  readonly rawHeaders: string[] = []
  readonly headers: Record<string, string | string[]> = {}
  statusCode = 0
  statusMessage = ''
  complete = false
  aborted = false
  socket: RequestSocket | undefined
  /** The request that it answers. */
  req: unknown
  #content: IncomingContent = null

  constructor(socket?: RequestSocket) {
    super()
    this.socket = socket
  }

  get connection(): RequestSocket | undefined {
    return this.socket
  }

  get headersDistinct(): Record<string, string[]> {
    return Object.fromEntries(Object.entries(this.headers).map(([name, value]) => [name, [value].flat()]))
  }

  /** Fills it with a response. */
  receive({ status, statusText, headers }: Head, content: IncomingContent, isHead: boolean): this {
    this.statusCode = status
    this.statusMessage = statusText
    this.#content = content
    const all = [...headers]
    const codings = all.flatMap(([name, value]) => (name === 'content-encoding' ? value.split(',') : []))
    const isDecoded = !isHead && codings.length > 0 && codings.every((each) => decoded.has(each.trim().toLowerCase()))
    for (const [name, value] of all) if (!isOfTransfer(name, isDecoded)) this.#addHeader(name, value)
    return this
  }

  #addHeader(name: string, value: string): void {
    this.rawHeaders.push(name, value)
    if (name === 'set-cookie') this.headers[name] = [...((this.headers[name] as string[] | undefined) ?? []), value]
    else this.headers[name] = value
  }

  setTimeout(milliseconds: number, callback?: () => void): this {
    if (callback !== undefined) this.once('timeout', callback)
    this.socket?.setTimeout(milliseconds, () => this.emit('timeout'))
    return this
  }

  override _read(): void {
    void this.#readPart()
  }

  async #readPart(): Promise<void> {
    try {
      const part = await this.#next()
      this.socket?.active()
      if (part === undefined) this.complete = true
      this.push(part ?? null)
    } catch (error) {
      this.destroy(toSocketError(error) as Error)
    }
  }

  async #next(): Promise<string | Uint8Array | undefined> {
    const content = this.#content
    if (content === null || typeof content === 'string' || content instanceof Uint8Array) {
      this.#content = null
      return content === null || content.length === 0 ? undefined : content
    }
    return content.read()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const isCut = !this.complete
    if (isCut) {
      this.aborted = true
      this.emit('aborted')
      this.#cancel()
    }
    // As in Node, a response that is cut fails if anybody listens.
    const failure = error ?? (isCut && this.listenerCount('error') > 0 ? codedError('ECONNRESET', 'aborted') : null)
    callback(failure)
  }

  #cancel(): void {
    const content = this.#content
    this.#content = null
    if (content !== null && typeof content === 'object' && !(content instanceof Uint8Array)) content.cancel()
  }
}

/** Headers that describe the message as it was sent, which is not as it is read. */
function isOfTransfer(name: string, isDecoded: boolean): boolean {
  return name === 'transfer-encoding' || (isDecoded && (name === 'content-encoding' || name === 'content-length'))
}
