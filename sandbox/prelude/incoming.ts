import type { FetchFailure } from '../protocol/contract.ts'
import type { Form, Next, Stream } from '../isolate/streams.ts'
import { orAborted, type AbortSignal } from './abort.ts'
import { assertStreams, concatenate } from './blob.ts'
import { encodeUtf8 } from './encoding.ts'

export type { Form }

type Bytes = Uint8Array<ArrayBuffer>

/** A body that arrives from outside of the isolate in parts. It is read once: whole, or as a stream. */
export class Incoming {
  readonly #stream: Stream
  readonly #toError: (failure: FetchFailure) => Error
  readonly #signal: AbortSignal | undefined

  /**
   * @param toError makes the error of a failed read
   * @param signal aborts reading
   */
  constructor(stream: Stream, toError: (failure: FetchFailure) => Error, signal: AbortSignal | undefined) {
    this.#stream = stream
    this.#toError = toError
    this.#signal = signal
    signal?.addEventListener('abort', stream.cancel, { once: true })
  }

  /** Reads the whole body, as a string if that is preferred and the bytes are valid UTF-8. */
  async readAll(form: Form): Promise<string | Bytes> {
    const parts: (string | Bytes)[] = []
    for (let part = await this.#next(form); part !== undefined; part = await this.#next(form)) parts.push(part)
    if (form === 'text' && parts.every((part) => typeof part === 'string')) return parts.join('')
    return concatenate(parts.map(toBytes))
  }

  /** Reads the next part; undefined after the last one. */
  read(): Promise<string | Bytes | undefined> {
    return this.#next('bytes')
  }

  /** The rest is not needed. */
  cancel(): void {
    this.#finish(true)
  }

  /** Splits it into two, each of which reads the whole body. */
  tee(): [Incoming, Incoming] {
    this.#signal?.removeEventListener('abort', this.#stream.cancel)
    const [one, other] = teeStream(this.#stream)
    return [new Incoming(one, this.#toError, this.#signal), new Incoming(other, this.#toError, this.#signal)]
  }

  /** Makes a stream of it, which requests parts on demand. */
  toStream(): ReadableStream<Bytes> {
    assertStreams()
    const pull = async (controller: ReadableByteStreamController) => {
      const part = await this.#next('bytes')
      if (part !== undefined) return controller.enqueue(toBytes(part))
      controller.close()
      controller.byobRequest?.respond(0)
    }
    const cancel = () => this.cancel()
    return new ReadableStream({ type: 'bytes', pull, cancel }, { highWaterMark: 0 }) as ReadableStream<Bytes>
  }

  async #next(form: Form): Promise<string | Bytes | undefined> {
    this.#signal?.throwIfAborted()
    const { data, failure } = await orAborted(this.#stream.next(form), this.#signal)
    if (data !== undefined) return typeof data === 'string' ? data : new Uint8Array(data)
    this.#finish(false)
    // The signal may have been aborted in the meantime.
    this.#signal?.throwIfAborted()
    if (failure !== undefined) throw this.#toError(failure)
    return undefined
  }

  #finish(isCancelled: boolean): void {
    if (isCancelled) this.#stream.cancel()
    this.#signal?.removeEventListener('abort', this.#stream.cancel)
  }
}

/** The first read decides the form of both. Parts are kept until both are collected as garbage. */
function teeStream(stream: Stream): [Stream, Stream] {
  const parts: Promise<Next>[] = []
  const reading = new Set<Stream>()
  const openBranch = (): Stream => {
    let position = 0
    const branch: Stream = {
      async next(form) {
        const { data, failure } = await (parts[position++] ??= stream.next(form))
        return { data: data instanceof ArrayBuffer ? data.slice(0) : data, failure }
      },
      cancel() {
        reading.delete(branch)
        if (reading.size === 0) stream.cancel()
      },
    }
    reading.add(branch)
    return branch
  }
  return [openBranch(), openBranch()]
}

function toBytes(part: string | Bytes): Bytes {
  return typeof part === 'string' ? encodeUtf8(part) : part
}
