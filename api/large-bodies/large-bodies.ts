import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { ApiError, type ErrorType } from '#shared/errors.ts'

/** A JSON body to be parsed. */
export interface LargeBody {
  bytes: Uint8Array<ArrayBuffer>
  /** A label of `TextDecoder`. */
  encoding: string
  /** The schema of the body; undefined to keep fields that it does not name. */
  schema: object | undefined
}

export type ParsedBody = { value: unknown } | { refusal: { type: ErrorType; message: string } }

/** Enough for a text of 50 MB that is not Latin, with its body. */
const heapMegabytes = 400

/** After this time without a body, the thread ends, and its heap with it. */
const idleMilliseconds = 10_000

/**
 * Parses bodies in a thread with a heap of its own, one after another, so that the event loop answers others meanwhile. A text
 * of any length then takes the event loop the time of copying it.
 */
export class LargeBodies {
  readonly #heapMegabytes: number
  #thread: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined

  constructor(heap = heapMegabytes) {
    this.#heapMegabytes = heap
  }

  /**
   * @param body whose bytes are no longer readable afterwards
   * @throws ApiError `InvalidPayload` or `PayloadTooLarge`
   */
  async parse(body: LargeBody): Promise<unknown> {
    const parsing = this.#last.then(() => this.#ask(body))
    this.#last = parsing.catch(() => {})
    const parsed = await parsing
    if ('value' in parsed) return parsed.value
    throw new ApiError(parsed.refusal.type, parsed.refusal.message)
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#last
    await this.#thread?.terminate()
  }

  async #ask(body: LargeBody): Promise<ParsedBody> {
    clearTimeout(this.#idle)
    const thread = (this.#thread ??= this.#start())
    const over = new AbortController()
    try {
      const answer = Promise.race([
        once(thread, 'message', over) as Promise<[ParsedBody]>,
        once(thread, 'exit', over).then(() => Promise.reject(new Error('The thread ended while it parsed a body'))),
      ])
      thread.postMessage(body, [body.bytes.buffer])
      const [parsed] = await answer
      return parsed
    } catch (error) {
      // A thread that has failed answers no more, also before it has ended.
      this.#forget(thread)
      if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
      throw new ApiError('PayloadTooLarge', 'The body has more values than the platform can hold: send fewer at a time')
    } finally {
      over.abort()
      this.#idle = setTimeout(() => this.#end(), idleMilliseconds).unref()
    }
  }

  #start(): Worker {
    const thread = new Worker(new URL('./thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMegabytes },
    })
    thread.unref()
    // An event `error` between two bodies, without a listener, would end the process.
    thread.on('error', () => this.#forget(thread))
    thread.once('exit', () => this.#forget(thread))
    return thread
  }

  #forget(thread: Worker): void {
    if (this.#thread === thread) this.#thread = undefined
  }

  #end(): void {
    void this.#thread?.terminate()
    this.#thread = undefined
  }
}
