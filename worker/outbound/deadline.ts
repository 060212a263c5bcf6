import { OutboundError } from './errors.ts'

/**
 * The time limit of a request, from the first name lookup to the last byte of the response. For a response that is read
 * as a stream, it covers the time to the headers, and then each wait for more of the body.
 */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #milliseconds: number
  #timer: NodeJS.Timeout
  #isIdleLimit = false
  #isWaiting = false
  readonly #callerSignal: AbortSignal | undefined
  /** Rejects when the time expires or the request is aborted; never resolves. */
  readonly expired: Promise<never>

  /**
   * @param milliseconds duration of the request
   * @param callerSignal aborts the request
   */
  constructor(milliseconds: number, callerSignal?: AbortSignal) {
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.expired = promise
    this.signal.addEventListener('abort', () => reject(this.signal.reason as OutboundError), { once: true })
    this.#milliseconds = milliseconds
    this.#timer = this.#abortIn(`The request took longer than ${milliseconds} ms: raise its timeout`)
    this.#callerSignal = callerSignal
    callerSignal?.addEventListener('abort', this.#abortByCaller)
    if (callerSignal?.aborted) this.#abortByCaller()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: OutboundError): void {
    this.#controller.abort(reason)
  }

  /** From now on, the time limit applies to each wait. */
  limitIdleness(): void {
    this.#isIdleLimit = true
    clearTimeout(this.#timer)
    if (this.#isWaiting) this.startWait()
  }

  /** More of the request was sent: the time begins again. */
  restart(): void {
    if (this.#isIdleLimit) return
    clearTimeout(this.#timer)
    this.#timer = this.#abortIn(`Nothing was sent or received for ${this.#milliseconds} ms: raise its timeout`)
  }

  /** A reader waits for more of the response. */
  startWait(): void {
    this.#isWaiting = true
    if (!this.#isIdleLimit) return
    this.#timer = this.#abortIn(`No more of the response arrived for ${this.#milliseconds} ms: raise its timeout`)
  }

  endWait(): void {
    this.#isWaiting = false
    if (this.#isIdleLimit) clearTimeout(this.#timer)
  }

  /** Stops the timer: the response is complete. */
  end(): void {
    clearTimeout(this.#timer)
    this.#callerSignal?.removeEventListener('abort', this.#abortByCaller)
  }

  #abortIn(message: string): NodeJS.Timeout {
    return setTimeout(() => this.abort(new OutboundError('timeout', message)), this.#milliseconds)
  }

  readonly #abortByCaller = (): void => this.abort(new OutboundError('aborted', 'The request was aborted'))
}
