import { creditParts } from '../protocol/protocol.ts'
import { partBytes } from '../protocol/units.ts'

/** A part of the body of a request, as in the frame `bodyPart`. */
export interface ContentPart {
  state: string
  data: string
  isBase64: number
}

/**
 * The body of a request that code sends in parts, from the worker's side. No part is requested before the request reads, and
 * no more than there is credit for. Reading throws when the code fails to make a part, or when the request is over.
 */
export class RequestContent implements AsyncIterable<Uint8Array> {
  readonly #ask: (parts: number) => void
  #parts: Buffer[] = []
  #asked = 0
  #received = 0
  #isComplete = false
  #isFinished = false
  #failure: string | undefined
  #wake: () => void = () => {}

  /** @param ask asks the process for so many further parts */
  constructor(ask: (parts: number) => void) {
    this.#ask = ask
  }

  /** Receives a part. False when it was not asked for. */
  receive({ state, data, isBase64 }: ContentPart): boolean {
    if (this.#isComplete || this.#received === this.#asked) return false
    this.#received += 1
    // Three bytes are four characters in base64.
    if (data.length > (isBase64 === 1 ? partBytes * 1.5 : partBytes)) this.#failure ??= 'A part of it is too large'
    else if (state === 'failed') this.#failure ??= 'The code failed to make it'
    else if (data !== '' && this.#failure === undefined && !this.#isFinished)
      this.#parts.push(Buffer.from(data, isBase64 === 1 ? 'base64' : 'utf8'))
    this.#isComplete = state !== 'part'
    this.#wake()
    return true
  }

  /** The reader has ended; parts in transit are dropped. */
  close(): void {
    this.#failure ??= 'The request is over'
    this.#parts = []
    this.#wake()
  }

  /** It ends with the parts that have come; those in transit are dropped. */
  finish(): void {
    this.#isFinished = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    this.#want(creditParts)
    for (;;) {
      const part = this.#parts.shift()
      if (part) {
        yield part
        if (!this.#isComplete) this.#want(1)
      } else if (this.#failure !== undefined) throw new Error(`The body of the request ended early: ${this.#failure}`)
      else if (this.#isComplete || this.#isFinished) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #want(parts: number): void {
    if (this.#failure !== undefined || this.#isFinished) return
    this.#asked += parts
    this.#ask(parts)
  }
}
