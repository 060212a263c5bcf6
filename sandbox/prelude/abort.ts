import { countListeners, Event, EventTarget } from './event-target.ts'
import { DOMException } from './exceptions.ts'

type Listener = (event: Event) => void

const construct = Symbol('construct')

/** Number of signals made so far: signals that follow the same signal dispatch in the order of their creation. */
let made = 0
/**
 * Number of signals aborted so far: a signal that follows several takes the reason of the one that was aborted first.
 */
let aborted = 0

/** The web's `AbortSignal`. */
export class AbortSignal extends EventTarget {
  readonly #number = (made += 1)
  #reason: unknown
  /** The signal's number in the order of aborted signals; undefined until it is aborted. */
  #abortedAs: number | undefined
  #onAbort: Listener | null = null
  /** The signals that this one follows. Those follow none themselves. */
  #sources: readonly AbortSignal[] = []
  /**
   * Signals that follow this one and have listeners. Signals without listeners read their sources on demand, so that no
   * source keeps them alive.
   */
  readonly #followers = new Set<AbortSignal>()

  /** Only controllers and this class construct signals. */
  constructor(key?: symbol) {
    super()
    if (key !== construct) throw new TypeError('AbortSignal cannot be constructed: use an AbortController')
  }

  get aborted(): boolean {
    return this.#isAborted()
  }

  get reason(): unknown {
    return this.#isAborted() ? this.#reason : undefined
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
    if (this.#isAborted()) throw this.#reason
  }

  override addEventListener(...values: Parameters<EventTarget['addEventListener']>): void {
    super.addEventListener(...values)
    this.#follow()
  }

  override removeEventListener(...values: Parameters<EventTarget['removeEventListener']>): void {
    super.removeEventListener(...values)
    this.#follow()
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(construct)
    signal.#abort(reason)
    return signal
  }

  static timeout(milliseconds: number): AbortSignal {
    if (!(milliseconds >= 0 && milliseconds <= Number.MAX_SAFE_INTEGER)) {
      throw new TypeError('AbortSignal.timeout requires milliseconds, at least 0')
    }
    const signal = new AbortSignal(construct)
    setTimeout(() => signal.#abort(new DOMException('The operation timed out', 'TimeoutError')), milliseconds)
    return signal
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const all = [...signals]
    if (!all.every((one) => one instanceof AbortSignal))
      throw new TypeError('AbortSignal.any requires a list of signals')
    const signal = new AbortSignal(construct)
    const over = all.find((one) => one.#isAborted())
    if (over === undefined) signal.#sources = [...new Set(all.flatMap((one) => one.#origins()))]
    else signal.#abort(over.#reason)
    return signal
  }

  override get [Symbol.toStringTag](): string {
    return 'AbortSignal'
  }

  /** Makes a signal and the function that aborts it. */
  static [construct](): { signal: AbortSignal; abort: (reason: unknown) => void } {
    const signal = new AbortSignal(construct)
    return { signal, abort: (reason) => signal.#abort(reason) }
  }

  /** Reads the sources, unless the signal is marked as aborted already. */
  #isAborted(): boolean {
    if (this.#abortedAs !== undefined) return true
    const [first] = this.#sources
      .filter((source) => source.#abortedAs !== undefined)
      .toSorted((one, other) => one.#abortedAs! - other.#abortedAs!)
    if (first === undefined) return false
    this.#mark(first.#reason)
    return true
  }

  #origins(): readonly AbortSignal[] {
    return this.#sources.length > 0 ? this.#sources : [this]
  }

  /** Registers with the sources while there are listeners. */
  #follow(): void {
    const isListenedTo = !this.#isAborted() && countListeners(this, 'abort') > 0
    for (const source of this.#sources) {
      if (isListenedTo) source.#followers.add(this)
      else source.#followers.delete(this)
    }
  }

  #mark(reason: unknown): void {
    this.#abortedAs = aborted += 1
    this.#reason = reason
  }

  #abort(reason: unknown): void {
    if (this.#abortedAs !== undefined) return
    this.#mark(reason === undefined ? new DOMException('The operation was aborted', 'AbortError') : reason)
    const followers = [...this.#followers].filter((one) => one.#abortedAs === undefined)
    for (const follower of followers) follower.#mark(this.#reason)
    this.dispatchEvent(new Event('abort'))
    for (const follower of followers.toSorted((one, other) => one.#number - other.#number)) {
      follower.#follow()
      follower.dispatchEvent(new Event('abort'))
    }
  }
}

/** The web's `AbortController`. */
export class AbortController {
  readonly #signal: AbortSignal
  readonly #abort: (reason: unknown) => void

  constructor() {
    const { signal, abort } = AbortSignal[construct]()
    this.#signal = signal
    this.#abort = abort
  }

  get signal(): AbortSignal {
    return this.#signal
  }

  abort(reason?: unknown): void {
    this.#abort(reason)
  }

  get [Symbol.toStringTag](): string {
    return 'AbortController'
  }
}

/** Settles as `work` does, or rejects with the signal's reason as soon as the signal is aborted. */
export function orAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
