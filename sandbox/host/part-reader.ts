import { isUtf8 } from 'node:buffer'
import type { ByteSource, FetchFailure } from '../protocol/contract.ts'
import { partBytes, type ToProcess } from '../protocol/protocol.ts'

/** What comes so soon after a part was sent goes with the next one: each part is a turn of the isolate. */
const joinMilliseconds = 15

/** Of a character of UTF-8. */
const maxCharacterBytes = 4

/** `text`: as texts where the bytes are UTF-8. `bytes`: as bytes in any case. */
export type Form = 'text' | 'bytes'

/** A part of a stream, as it crosses: see the frame `part`. */
export type Part = Pick<Extract<ToProcess, { type: 'part' }>, 'data' | 'isBase64' | 'isLast' | 'failure'>

/**
 * Makes parts of a source as they are asked for: the first as soon as there is anything, later ones of what came within
 * some milliseconds. It holds one part and one chunk of the source at most.
 */
export class PartReader {
  readonly #iterator: AsyncIterator<Uint8Array | FetchFailure>
  readonly #form: Form
  #chunks: Buffer[] = []
  #bytes = 0
  /** The chunk that was asked for. */
  #reading: Promise<void> | undefined
  #failure: FetchFailure | undefined
  #isDone = false
  #sentAt = -Infinity

  constructor(source: ByteSource, form: Form) {
    this.#iterator = source[Symbol.asyncIterator]()
    this.#form = form
  }

  /** The next part. Not to be called before the last call has resolved, nor after the last part. Never rejects. */
  async next(): Promise<Part> {
    let bytes: Buffer
    do {
      await this.#gather()
      bytes = this.#take()
    } while (bytes.length === 0 && !this.#isDone)
    this.#sentAt = performance.now()
    const isLast = this.#isDone && this.#bytes === 0
    const isText = this.#form === 'text' && isUtf8(bytes)
    return {
      data: bytes.toString(isText ? 'utf8' : 'base64'),
      isBase64: isText ? 0 : 1,
      isLast: isLast ? 1 : 0,
      failure: isLast && this.#failure ? JSON.stringify(this.#failure) : '',
    }
  }

  /** Lets go of the source. */
  close(): void {
    this.#isDone = true
    this.#iterator.return?.().catch(() => {})
  }

  /** Reads until there is more than there was, and a part's worth or the time for what follows is over. */
  async #gather(): Promise<void> {
    const before = this.#bytes
    const due = this.#sentAt + joinMilliseconds
    while (!this.#isDone && this.#bytes < partBytes) {
      this.#reading ??= this.#read()
      if (this.#bytes === before) await this.#reading
      else if (!(await settlesBy(this.#reading, due))) return
    }
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#iterator.next()
      if (done) this.#isDone = true
      else if (value instanceof Uint8Array) {
        this.#chunks.push(Buffer.from(value.buffer, value.byteOffset, value.length))
        this.#bytes += value.length
      } else {
        this.#failure = value
        this.#isDone = true
      }
    } catch {
      this.#failure = { failure: 'internal', message: 'The platform could not read on' }
      this.#isDone = true
    } finally {
      this.#reading = undefined
    }
  }

  /** Takes a part of what is held. In a text, a character whose end has not come stays for the next one. */
  #take(): Buffer {
    const held = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const isRest = this.#isDone && held.length <= partBytes
    const part = held.subarray(0, partBytes)
    const bytes = this.#form === 'text' && !isRest ? part.subarray(0, wholeCharacters(part)) : part
    const rest = held.subarray(bytes.length)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#bytes = rest.length
    return bytes
  }
}

/** Whether a promise settles before this time, by `performance.now()`. */
async function settlesBy(promise: Promise<void>, due: number): Promise<boolean> {
  const left = due - performance.now()
  if (left <= 0) return false
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, left, false)
  const settled = await Promise.race([promise.then(() => true), late])
  clearTimeout(timer)
  return settled
}

/** How many of these bytes are before a character of UTF-8 that is not complete. What is no UTF-8 is taken as it is. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(maxCharacterBytes, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return back < characterBytes(byte) ? bytes.length - back : bytes.length
  }
  return bytes.length
}

function characterBytes(first: number): number {
  if (first >= 0xf0) return 4
  return first >= 0xe0 ? 3 : 2
}
