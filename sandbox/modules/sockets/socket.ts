import { Duplex } from 'stream'
import type { Platform } from '../../isolate/platform.ts'
import { toSocketError } from '../http/errors.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { IdleTimer } from '../http/idle-timer.ts'
import { OutgoingParts } from '../http/outgoing.ts'
import { openConnection, type Connected, type Wanted } from './open-connection.ts'
import { authorityOf, toConnectOptions, type ConnectOptions } from './options.ts'
import { refuseOptions } from './refused-options.ts'

/** The socket that a connection with TLS continues. */
export interface Detached {
  authority: string
  connected: Connected
}

/** Makes Node's `Socket`, over connections that the worker opens. A connection ends with the run that has opened it. */
export function createSocket(platform: Platform) {
  return class Socket extends Duplex {
    connecting = false
    /** Whether it is not connected yet. */
    pending = true
    bytesRead = 0
    bytesWritten = 0
    readonly #idle = new IdleTimer(() => this.emit('timeout'))
    #outgoing = new OutgoingParts(undefined)
    #authority = ''
    #connected: Connected | undefined
    #close: () => void = () => {}
    /** Whether more is to be read. */
    #isAsked = false
    #isReading = false
    #isDetached = false
    /** Ends the write that is under way. The run goes on until then. */
    #written: (error?: Error) => void = () => {}

    constructor(options: ConnectOptions = {}) {
      // Node's reports at `close` whether there was an error, and so does this one.
      super({ allowHalfOpen: options.allowHalfOpen === true, emitClose: false })
    }

    get timeout(): number {
      return this.#idle.milliseconds
    }

    get readyState(): string {
      if (this.connecting) return 'opening'
      if (this.pending) return 'closed'
      if (this.readable) return this.writable ? 'open' : 'readOnly'
      return this.writable ? 'writeOnly' : 'closed'
    }

    connect(...values: unknown[]): this {
      const { options, listener } = toConnectOptions(values)
      refuseOptions('net', options)
      if (listener) this.once('connect', listener)
      if (options.timeout) this.setTimeout(options.timeout)
      this.open({ protocol: 'tcp', authority: authorityOf(options) })
      return this
    }

    /** A socket that is closed can be connected again, as Node's. */
    #renew(): void {
      // oxlint-disable-next-line no-underscore-dangle -- The name by which Node's sockets do it too.
      ;(this as unknown as { _undestroy(): void })._undestroy()
      this.#outgoing = new OutgoingParts(undefined)
      this.#connected = undefined
      this.#isAsked = false
      this.#isReading = false
      this.pending = true
      this.bytesRead = 0
      this.bytesWritten = 0
    }

    /** Opens the connection; `connect` or `error` tells how that went. */
    open(wanted: Wanted): void {
      if (this.destroyed) this.#renew()
      if (this.connecting || !this.pending) {
        this.destroy(codedError('EISCONN', 'The socket is connected already'))
        return
      }
      this.connecting = true
      this.#authority = wanted.authority
      void this.#open(wanted)
    }

    async #open(wanted: Wanted): Promise<void> {
      const outgoing = this.#outgoing
      let connected: Connected
      try {
        const handlers = { opening: (close: () => void) => (this.#close = close), over: () => this.#end() }
        connected = await openConnection(platform, wanted, outgoing, handlers)
      } catch (error) {
        if (outgoing === this.#outgoing) this.destroy(toSocketError(error) as Error)
        return
      }
      if (this.destroyed || outgoing !== this.#outgoing) return connected.close()
      this.#connected = connected
      this.connecting = false
      this.pending = false
      this.#idle.active()
      // Where a listener throws, that is the error of the code and not of the connection.
      this.announce()
      // Reading begins although there may be no reader, so that the end is noticed. `_read` may have been called before.
      if (this.#isAsked) void this.#readPart()
      else if (!this.isPaused()) this.read(0)
    }

    /** Its run is over, and so is the connection. Code that has kept the socket for later is to notice. */
    #end(): void {
      if (this.destroyed || this.#isDetached) return
      this.push(null)
      this.destroy()
    }

    /** Tells that the connection is open. */
    announce(): void {
      this.emit('connect')
      this.emit('ready')
    }

    /** Gives the connection to another socket. This one reads and writes nothing from now on. */
    detach(): Detached | undefined {
      const connected = this.#connected
      if (!connected || this.destroyed) return undefined
      this.#isDetached = true
      return { authority: this.#authority, connected }
    }

    override _read(): void {
      this.#isAsked = true
      void this.#readPart()
    }

    async #readPart(): Promise<void> {
      const connected = this.#connected
      if (!connected || this.#isReading) return
      this.#isReading = true
      let part: Uint8Array<ArrayBuffer> | undefined
      try {
        part = (await connected.incoming.read()) as typeof part
      } catch (error) {
        if (connected === this.#connected && !this.#isDetached) this.destroy(toSocketError(error) as Error)
        return
      }
      if (connected !== this.#connected) return
      this.#isReading = false
      this.#isAsked = false
      if (this.#isDetached || this.destroyed) return
      this.#idle.active()
      this.bytesRead += part?.length ?? 0
      this.push(part ? Buffer.from(part.buffer, part.byteOffset, part.length) : null)
    }

    override _write(chunk: Uint8Array, _encoding: string, callback: (error?: Error) => void): void {
      this.#idle.active()
      this.bytesWritten += chunk.length
      this.#outgoing.push(chunk, this.#begin(callback))
    }

    override _final(callback: (error?: Error) => void): void {
      this.#outgoing.end(this.#begin(callback))
    }

    /** The run ends when what was written has left the isolate. */
    #begin(callback: (error?: Error) => void): () => void {
      const release = platform.hold(platform.token())
      const written = (error?: Error) => {
        if (this.#written !== written) return
        this.#written = () => {}
        release()
        callback(error)
      }
      this.#written = written
      return written
    }

    override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
      this.connecting = false
      this.#idle.stop()
      if (error) this.#outgoing.fail(error)
      else this.#outgoing.end()
      if (!this.#isDetached) this.#close()
      callback(error)
      this.#written(error ?? codedError('ERR_STREAM_DESTROYED', 'The socket is closed'))
      process.nextTick(() => this.emit('close', error !== null))
    }

    /** Ends the connection when all is written. */
    destroySoon(): void {
      if (this.writable) this.end()
      if (this.writableFinished) this.destroy()
      else this.once('finish', () => this.destroy())
    }

    resetAndDestroy(): this {
      return this.destroy()
    }

    /** Emits `timeout` after so many milliseconds without activity. */
    setTimeout(milliseconds: number, callback?: () => void): this {
      if (callback !== undefined) this.once('timeout', callback)
      if (!this.destroyed) this.#idle.start(milliseconds)
      return this
    }

    setNoDelay(): this {
      return this
    }

    setKeepAlive(): this {
      return this
    }

    ref(): this {
      return this
    }

    unref(): this {
      return this
    }

    address(): object {
      return {}
    }
  }
}

export type SocketClass = ReturnType<typeof createSocket>
