import { Event, EventTarget } from 'event-target-shim'

type Listener = (event: Event) => void

const construct = Symbol('construct')

/** The web's `AbortSignal`. */
export class AbortSignal extends EventTarget {
  #reason: unknown
  #aborted = false
  #onAbort: Listener | null = null

  /** Only controllers and this class make signals. */
  constructor(key?: symbol) {
    super()
    if (key !== construct) throw new TypeError('An AbortSignal comes from an AbortController')
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  get onabort(): Listener | null {
    return this.#onAbort
  }

  set onabort(listener: Listener | null) {
    if (this.#onAbort !== null) this.removeEventListener('abort', this.#onAbort)
    this.#onAbort = typeof listener === 'function' ? listener : null
    if (this.#onAbort !== null) this.addEventListener('abort', this.#onAbort)
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(construct)
    signal.#abort(reason)
    return signal
  }

  static timeout(milliseconds: number): AbortSignal {
    if (!(milliseconds >= 0 && milliseconds <= Number.MAX_SAFE_INTEGER)) {
      throw new TypeError('AbortSignal.timeout takes milliseconds from 0 on')
    }
    const signal = new AbortSignal(construct)
    setTimeout(() => signal.#abort(new DOMException('The operation timed out', 'TimeoutError')), milliseconds)
    return signal
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const all = [...signals]
    if (!all.every((one) => one instanceof AbortSignal)) throw new TypeError('AbortSignal.any takes signals')
    const aborted = all.find((signal) => signal.aborted)
    if (aborted !== undefined) return AbortSignal.abort(aborted.reason)
    const signal = new AbortSignal(construct)
    for (const one of all) one.addEventListener('abort', () => signal.#abort(one.reason), { once: true })
    return signal
  }

  get [Symbol.toStringTag](): string {
    return 'AbortSignal'
  }

  /** Makes a signal, and the function that aborts it. */
  static [construct](): { signal: AbortSignal; abort: (reason: unknown) => void } {
    const signal = new AbortSignal(construct)
    return { signal, abort: (reason) => signal.#abort(reason) }
  }

  #abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason === undefined ? new DOMException('The operation was aborted', 'AbortError') : reason
    this.dispatchEvent(new Event('abort'))
  }
}

/** The web's `AbortController`. */
export class AbortController {
  readonly signal: AbortSignal
  readonly #abort: (reason: unknown) => void

  constructor() {
    const { signal, abort } = AbortSignal[construct]()
    this.signal = signal
    this.#abort = abort
  }

  abort(reason?: unknown): void {
    this.#abort(reason)
  }

  get [Symbol.toStringTag](): string {
    return 'AbortController'
  }
}

/** Settles as the work does, or rejects with the signal's reason as soon as it is aborted. */
export function orAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
