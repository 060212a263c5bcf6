import { EventEmitter } from 'events'

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
  timeout = 0
  bytesRead = 0
  bytesWritten = 0
  readonly #onDestroy: (error: Error | undefined) => void
  #timer: number | undefined
  #activeAt = 0

  constructor(isEncrypted: boolean, onDestroy: (error: Error | undefined) => void) {
    super()
    this.encrypted = isEncrypted
    this.authorized = isEncrypted
    this.#onDestroy = onDestroy
  }

  /** Emits `timeout` after so many milliseconds without activity. */
  setTimeout(milliseconds: number, callback?: () => void): this {
    this.timeout = milliseconds
    if (callback !== undefined) this.once('timeout', callback)
    this.#arm(this.timeout)
    this.active()
    return this
  }

  /** Something was sent or received. */
  active(): void {
    this.#activeAt = Date.now()
  }

  /** One timer serves a whole request, because each takes a message to the host. */
  #arm(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!(milliseconds > 0) || this.destroyed) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const left = this.#activeAt + this.timeout - Date.now()
      if (left > 0) return this.#arm(left)
      this.emit('timeout')
    }, milliseconds) as unknown as number
  }

  destroy(error?: Error): this {
    if (!this.destroyed) this.#onDestroy(error)
    return this
  }

  /** The request is over. */
  close(): void {
    if (this.destroyed) return
    this.destroyed = true
    clearTimeout(this.#timer)
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
