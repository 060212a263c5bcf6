import { OutboundError } from './errors.ts'

/** The time that a request has, from its first name lookup to the last byte of its answer. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #callerSignal: AbortSignal | undefined
  /** Rejects when the time is up or somebody takes the request back; never resolves. */
  readonly expired: Promise<never>

  /**
   * @param milliseconds how long the request may take
   * @param callerSignal takes the request back
   */
  constructor(milliseconds: number, callerSignal?: AbortSignal) {
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.expired = promise
    this.signal.addEventListener('abort', () => reject(this.signal.reason as OutboundError), { once: true })
    this.#timer = setTimeout(() => {
      this.abort(new OutboundError('timeout', `The request took longer than ${milliseconds} ms: allow it more time`))
    }, milliseconds)
    this.#callerSignal = callerSignal
    callerSignal?.addEventListener('abort', this.#takeBack)
    if (callerSignal?.aborted) this.#takeBack()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: OutboundError): void {
    this.#controller.abort(reason)
  }

  /** Stops the clock: what was asked for is there. */
  end(): void {
    clearTimeout(this.#timer)
    this.#callerSignal?.removeEventListener('abort', this.#takeBack)
  }

  readonly #takeBack = (): void => this.abort(new OutboundError('aborted', 'The request was taken back'))
}
