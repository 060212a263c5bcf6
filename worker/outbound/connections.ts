import { constants } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import type {
  ByteSource,
  FetchConnection,
  FetchFailure,
  FetchRequest,
  FetchStream,
  TlsOptions,
} from '#sandbox/protocol/contract.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { Deadline } from './deadline.ts'
import { OutboundError } from './errors.ts'
import type { Target } from './targets.ts'

/** A connection to open. */
export interface ConnectionRequest {
  target: Target
  /** Finds the addresses of the target that are permitted. */
  lookup: LookupFunction
  /** Absent for a connection without TLS. */
  tls: TlsOptions | undefined
  /** The bytes to send, until the code closes the connection. */
  content: AsyncIterable<Uint8Array>
  /** Upper bounds of the bytes received, and of those sent. */
  maxBytes: number
  maxSentBytes: number
  metrics: ConnectionMetrics
  /** Begins another lease, for the connection that continues this one with TLS. @throws OutboundError */
  lease(signal: AbortSignal): Lease
}

/** Time for a peer to take the last bytes of a connection that is closed. */
const closingMilliseconds = 2000

/** Counts what is open, and what it carries. */
export type ConnectionMetrics = Pick<Metrics, 'outboundConnections' | 'outboundConnectionBytes'>

/** The time and the memory of one connection, until it is over. */
export interface Lease {
  /** Counts the time until the connection is open, and from then on reports only that it has to end. */
  deadline: Deadline
  end(): void
}

/**
 * Opens a connection.
 *
 * @param lease ends with the connection, but not where none is opened
 * @throws OutboundError
 */
export async function openConnection(request: ConnectionRequest, lease: Lease): Promise<FetchConnection> {
  const { target, lookup, tls } = request
  const { host, port } = target
  const socket = connectTcp({ host, port, lookup, autoSelectFamily: true, noDelay: true, allowHalfOpen: true })
  socket.on('error', ignore)
  try {
    await within(lease.deadline, once(socket, 'connect'))
    return new Connection(tls ? await secure(socket, host, tls, lease.deadline) : socket, request, lease)
  } catch (error) {
    socket.destroy()
    throw toOutboundError(error, host)
  }
}

/** Begins TLS. The certificate is verified before anything is sent. */
async function secure(socket: Socket, host: string, tls: TlsOptions, deadline: Deadline): Promise<Socket> {
  if (socket.destroyed || socket.readableEnded)
    throw new OutboundError('aborted', 'The connection to be secured is closed')
  const { servername: name = host, rejectUnauthorized = true, ca, ciphers, minVersion, maxVersion } = tls
  const servername = isIP(name) === 0 ? { servername: name } : {}
  const secured = connectTls({
    socket,
    host: name,
    ...servername,
    rejectUnauthorized,
    // An empty text would trust the public authorities.
    ...(ca !== undefined && { ca: ca === '' ? [] : ca }),
    ...(ciphers !== undefined && { ciphers }),
    ...((minVersion ?? maxVersion) !== undefined && toVersions(minVersion, maxVersion)),
    // A server could ask for one handshake after the other, and show another certificate in each.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  })
  try {
    await within(deadline, once(secured, 'secureConnect'))
    return secured
  } catch (error) {
    secured.on('error', ignore).destroy()
    throw error
  }
}

/** Node refuses versions that it does not know. */
function toVersions(minVersion?: string, maxVersion?: string): Pick<ConnectionOptions, 'minVersion' | 'maxVersion'> {
  return { minVersion, maxVersion } as Pick<ConnectionOptions, 'minVersion' | 'maxVersion'>
}

/**
 * Carries the bytes of an open connection in both directions, each no faster than the other side takes them. Its functions are
 * its own properties: a run records the steps of its requests in copies of their answers.
 */
class Connection implements FetchConnection {
  readonly status = 200
  readonly statusText = 'Connected'
  readonly headers: FetchStream['headers'] = []
  readonly url: string
  readonly parts: ByteSource
  readonly #socket: Socket
  readonly #request: ConnectionRequest
  readonly #lease: Lease
  /** Whether a connection with TLS has taken its place. */
  #isReplaced = false
  /** Whether it counts as open no more. */
  #isOver = false
  /** Whether the code sends no more. */
  #isSent = false
  #closing: NodeJS.Timeout | undefined
  #failure: OutboundError | undefined
  #wake: () => void = () => {}

  constructor(socket: Socket, request: ConnectionRequest, lease: Lease) {
    const { host, port } = request.target
    this.#socket = socket
    this.#request = request
    this.#lease = lease
    this.url = `${request.tls ? 'tls' : 'tcp'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
    this.parts = this.#read()
    request.metrics.outboundConnections.inc()
    const { deadline } = lease
    deadline.limitIdleness()
    deadline.signal.addEventListener('abort', this.#abort, { once: true })
    for (const name of changes) socket.on(name, this.#notice)
    socket.on('error', this.#fail)
    socket.on('close', this.#end)
    void this.#write()
    if (deadline.signal.aborted) this.#abort()
    // A socket that closes in the tick in which it opens has sent its events before.
    if (socket.errored) this.#fail(socket.errored)
    if (socket.closed) this.#end()
  }

  readonly secure = async (
    { tls = {}, content }: FetchRequest,
    signal: AbortSignal,
  ): Promise<FetchConnection | FetchFailure> => {
    if (this.#isReplaced) return { failure: 'aborted', message: 'The connection is secured already' }
    const socket = this.#leave()
    const { host } = this.#request.target
    let lease: Lease | undefined
    try {
      lease = this.#request.lease(signal)
      const secured = await secure(socket, host, tls, lease.deadline)
      return new Connection(secured, { ...this.#request, tls, content: content?.parts ?? nothing() }, lease)
    } catch (error) {
      socket.destroy()
      lease?.end()
      const { reason, message } = toOutboundError(error, host)
      return { failure: reason, message }
    }
  }

  /** Detaches from the socket, which keeps the bytes that were received and not read: there they can only break the handshake. */
  #leave(): Socket {
    const socket = this.#socket
    this.#isReplaced = true
    for (const name of changes) socket.off(name, this.#notice)
    socket.off('close', this.#end)
    this.#end()
    this.#wake()
    return socket
  }

  async *#read(): AsyncGenerator<Uint8Array | FetchFailure> {
    let left = this.#request.maxBytes
    try {
      while (!this.#isReplaced) {
        const chunk = this.#socket.read() as Buffer | null
        if (chunk !== null) {
          left -= chunk.length
          this.#count('received', chunk)
          if (left >= 0) yield chunk
          else this.#fail(tooMuch(this.#request, 'received from', this.#request.maxBytes))
        } else if (this.#socket.readableEnded || this.#socket.destroyed) break
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
      if (this.#failure && !this.#isReplaced) {
        const { reason, message } = this.#failure
        yield { failure: reason, message }
      }
    } finally {
      // The code may still send after the end of the server.
      if (!this.#socket.readableEnded) this.close()
    }
  }

  async #write(): Promise<void> {
    let left = this.#request.maxSentBytes
    try {
      for await (const part of this.#request.content) {
        if (this.#isReplaced || this.#socket.destroyed) return
        left -= part.length
        if (left < 0) return this.#fail(tooMuch(this.#request, 'sent to', this.#request.maxSentBytes))
        this.#count('sent', part)
        if (!this.#socket.write(part)) await this.#drained()
      }
      if (this.#isReplaced) return
      this.#isSent = true
      if (this.#closing) this.#socket.destroySoon()
      else this.#socket.end()
    } catch {
      // The code has failed to make its part, or is over.
      this.#abort()
    }
  }

  readonly close = (): void => {
    if (this.#isReplaced || this.#closing || this.#socket.destroyed) return
    this.#closing = setTimeout(this.#abort, closingMilliseconds)
    if (this.#isSent) this.#socket.destroySoon()
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        for (const name of ['drain', 'close'] as const) this.#socket.off(name, settle)
        resolve()
      }
      for (const name of ['drain', 'close'] as const) this.#socket.once(name, settle)
    })
  }

  readonly #notice = (): void => this.#wake()

  readonly #fail = (error: Error): void => {
    this.#failure ??= toOutboundError(error, this.#request.target.host)
    this.#abort()
  }

  readonly #abort = (): void => {
    if (this.#isReplaced) return
    this.#socket.destroy()
    this.#wake()
  }

  #count(direction: 'sent' | 'received', { length }: Uint8Array): void {
    this.#request.metrics.outboundConnectionBytes.inc({ direction }, length)
  }

  readonly #end = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.#request.metrics.outboundConnections.dec()
    clearTimeout(this.#closing)
    this.#lease.deadline.signal.removeEventListener('abort', this.#abort)
    this.#lease.end()
  }
}

/** The events after which there is more to read, or nothing any more. */
const changes = ['readable', 'end', 'close'] as const

async function within(deadline: Deadline, opened: Promise<unknown>): Promise<void> {
  // Either may fail after the other.
  opened.catch(ignore)
  await Promise.race([opened, deadline.expired])
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function tooMuch({ target }: ConnectionRequest, way: 'sent to' | 'received from', bytes: number): OutboundError {
  return new OutboundError('too-large', `More than ${bytes} bytes were ${way} ${target.host} in one connection`)
}

function toOutboundError(error: unknown, host: string): OutboundError {
  const code = (error as { code?: unknown }).code
  if (error instanceof OutboundError || typeof code !== 'string' || !/CERT|_TLS_|SIGNATURE/.test(code)) {
    return OutboundError.from(error, host)
  }
  const message = `The certificate of ${host} is not accepted (${code}): give its authority in ca`
  return new OutboundError('unreachable', message, { cause: error })
}

function ignore(): void {}
