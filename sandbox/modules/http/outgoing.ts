/**
 * The body of a request that is longer than one part, while it is written: `fetch` reads it part by part, and a write is
 * complete when all of its bytes have been read, which the code may change from then on.
 */
export class OutgoingParts {
  /** In bytes, where the request's headers tell. */
  readonly size: number | undefined
  readonly #parts: { bytes: Uint8Array<ArrayBuffer>; taken: () => void }[] = []
  #isOver = false
  #ended: () => void = () => {}
  #failure: Error | undefined
  #wake: () => void = () => {}

  constructor(size: number | undefined) {
    this.size = size
  }

  push(bytes: Uint8Array, taken: () => void): void {
    // Isolates have no shared memory.
    this.#parts.push({ bytes: bytes as Uint8Array<ArrayBuffer>, taken })
    this.#wake()
  }

  /** @param ended is called when all parts have been read */
  end(ended: () => void = () => {}): void {
    this.#isOver = true
    this.#ended = ended
    this.#wake()
  }

  /** The request is destroyed: nothing more will be written. */
  fail(error: Error): void {
    this.#failure = error
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (;;) {
      if (this.#failure) throw this.#failure
      const part = this.#parts.shift()
      if (part) {
        yield part.bytes
        part.taken()
      } else if (this.#isOver) return this.#ended()
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
