/** Reports a time without activity. One timer serves a whole connection, because each takes a message to the host. */
export class IdleTimer {
  milliseconds = 0
  readonly #onIdle: () => void
  #timer: number | undefined
  #activeAt = 0

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle
  }

  /** Reports so many milliseconds without activity from now on; 0 reports none. */
  start(milliseconds: number): void {
    this.milliseconds = milliseconds
    this.#arm(milliseconds)
    this.active()
  }

  /** Something was sent or received. */
  active(): void {
    this.#activeAt = Date.now()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #arm(milliseconds: number): void {
    this.stop()
    if (!(milliseconds > 0)) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const left = this.#activeAt + this.milliseconds - Date.now()
      if (left > 0) return this.#arm(left)
      this.#onIdle()
    }, milliseconds) as unknown as number
  }
}
