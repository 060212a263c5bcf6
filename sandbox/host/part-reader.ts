import { isUtf8 } from 'node:buffer'
import type { ByteSource, FetchFailure } from '../protocol/contract.ts'
import type { ToProcess } from '../protocol/protocol.ts'
import { partBytes } from '../protocol/units.ts'

/**
 * Data that arrives within this time of the last part is joined into the next one, because each part is a turn of the
 * isolate.
 */
const usualJoinMilliseconds = 15

/** Maximum length of a UTF-8 character. */
const maxCharacterBytes = 4

/** `text`: strings where the bytes are valid UTF-8. `bytes`: always bytes. */
export type Form = 'text' | 'bytes'

/** A part of a stream, as in the frame `part`. */
export type Part = Pick<Extract<ToProcess, { type: 'part' }>, 'data' | 'isBase64' | 'isLast' | 'failure'>

/**
 * Makes parts of a source on demand: the first as soon as there is data, later ones from the data of some milliseconds.
 * Holds at most one part and one chunk of the source.
 */
export class PartReader {
  readonly #iterator: AsyncIterator<Uint8Array | FetchFailure>
  readonly #form: Form
  readonly #joinMilliseconds: number
  #chunks: Buffer[] = []
  #bytes = 0
  /** Whether the buffered data is at most the beginning of a character, which makes no part. */
  #isIncomplete = true
  /** The pending read of the next chunk. */
  #reading: Promise<void> | undefined
  #failure: FetchFailure | undefined
  #isDone = false
  #sentAt = -Infinity

  constructor(source: ByteSource, form: Form, joinMilliseconds = usualJoinMilliseconds) {
    this.#iterator = source[Symbol.asyncIterator]()
    this.#form = form
    this.#joinMilliseconds = joinMilliseconds
  }

  /**
   * Resolves to the next part. Must not be called before the last call has resolved, nor after the last part. Never
   * rejects.
   */
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

  /** Releases the source. */
  close(): void {
    this.#isDone = true
    this.#iterator.return?.().catch(() => {})
  }

  /** Reads until there is data for a part, and either enough of it or the joining time is over. */
  async #gather(): Promise<void> {
    const before = this.#isIncomplete ? this.#bytes : 0
    const due = this.#sentAt + this.#joinMilliseconds
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
      this.#failure = { failure: 'internal', message: 'The platform could not read the next part' }
      this.#isDone = true
    } finally {
      this.#reading = undefined
    }
  }

  /** Takes one part from the buffered data. In a text, an incomplete character at the end stays for the next part. */
  #take(): Buffer {
    const held = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const isRest = this.#isDone && held.length <= partBytes
    const part = held.subarray(0, partBytes)
    const bytes = this.#form === 'text' && !isRest ? part.subarray(0, wholeCharacters(part)) : part
    const rest = held.subarray(bytes.length)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#bytes = rest.length
    this.#isIncomplete = held.length <= partBytes
    return bytes
  }
}

/** Whether a promise settles before `due`, a time of `performance.now()`. */
async function settlesBy(promise: Promise<void>, due: number): Promise<boolean> {
  const left = due - performance.now()
  if (left <= 0) return false
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, left, false)
  const settled = await Promise.race([promise.then(() => true), late])
  clearTimeout(timer)
  return settled
}

/**
 * Number of bytes before an incomplete UTF-8 character at the end. Bytes that are not valid UTF-8 count as complete.
 */
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
