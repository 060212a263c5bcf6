import { EventEmitter } from 'events'
import { IdleTimer } from './idle-timer.ts'

/**
 * Stands for the connection of a request. It carries no data: libraries set its timeout, and wait until it is connected,
 * which it always is.
 */
export class RequestSocket extends EventEmitter {
  readonly connecting = false
  readonly encrypted: boolean
  readonly authorized: boolean
  readonly readable = true
  readonly writable = true
  destroyed = false
  bytesRead = 0
  bytesWritten = 0
  readonly #onDestroy: (error: Error | undefined) => void
  readonly #idle = new IdleTimer(() => this.emit('timeout'))

  constructor(isEncrypted: boolean, onDestroy: (error: Error | undefined) => void) {
    super()
    this.encrypted = isEncrypted
    this.authorized = isEncrypted
    this.#onDestroy = onDestroy
  }

  get timeout(): number {
    return this.#idle.milliseconds
  }

  /** Emits `timeout` after so many milliseconds without activity. */
  setTimeout(milliseconds: number, callback?: () => void): this {
    if (callback !== undefined) this.once('timeout', callback)
    if (!this.destroyed) this.#idle.start(milliseconds)
    return this
  }

  /** Something was sent or received. */
  active(): void {
    this.#idle.active()
  }

  destroy(error?: Error): this {
    if (!this.destroyed) this.#onDestroy(error)
    return this
  }

  /** The request is over. */
  close(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.#idle.stop()
    this.emit('close', false)
  }

  end(): this {
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

  getPeerCertificate(): object {
    return {}
  }
}
