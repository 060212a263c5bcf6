import type { ByteSource, FetchFailure } from '../protocol/contract.ts'
import { PartReader, type Form, type Part } from './part-reader.ts'
import { creditParts, maxReadings } from '../protocol/protocol.ts'

/** A process's request for parts of a stream, as in the frame `pull`. */
interface Pull {
  stream: string
  form: string
  parts: number
}

/** Sends a part of a stream; resolves when another one can be sent. */
type SendPart = (stream: string, part: Part) => Promise<void> | undefined

/** How a stream ended: `cancelled` by the code, `closed` with its run. */
export type StreamEnd = 'complete' | 'cancelled' | 'closed' | FetchFailure

interface OpenStream {
  source: ByteSource
  reader: PartReader | undefined
  /** Parts that the reader has requested, and parts that were sent. */
  asked: number
  sent: number
  isSending: boolean
  isEnded: boolean
  onEnd: ((how: StreamEnd) => void) | undefined
  joinMilliseconds: number | undefined
}

/** The name of one reading of a source: the source's name and the number of the reading. */
const readingName = /^([a-zA-Z]+)\/\d{1,4}$/

/**
 * The streams that one run reads in parts, from the worker's side. Nothing is read from a source before the run
 * requests it, and no more than the run has credit for. An ended stream keeps its entry, because requests for it may
 * still be in transit.
 */
export class RunStreams {
  readonly #sources: Record<string, () => ByteSource>
  readonly #streams = new Map<string, OpenStream>()
  readonly #readings = new Map<string, { count: number; latest: string }>()
  #isClosed = false

  /** @param sources the sources that the run may read repeatedly, by name */
  constructor(sources: Record<string, () => ByteSource> = {}) {
    this.#sources = sources
  }

  /** The number of streams that have not ended. */
  get open(): number {
    return [...this.#streams.values()].filter((stream) => !stream.isEnded).length
  }

  /**
   * Offers a source to the run, under a unique name.
   *
   * @param joinMilliseconds data of this time form one part, after the first; default: that of `PartReader`
   */
  offer(name: string, source: ByteSource, onEnd?: (how: StreamEnd) => void, joinMilliseconds?: number): void {
    const state = { reader: undefined, asked: 0, sent: 0, isSending: false, isEnded: false }
    this.#streams.set(name, { source, ...state, onEnd, joinMilliseconds })
    if (this.#isClosed) this.#end(name, 'closed')
  }

  /** Sends more of a stream. False when no stream has this name, or the request exceeds the credit. */
  pull({ stream: name, form, parts }: Pull, send: SendPart): boolean {
    const stream = this.#streams.get(name) ?? this.#begin(name)
    if (stream === undefined || !Number.isInteger(parts) || parts < 1) return false
    if (stream.asked + parts - stream.sent > creditParts) return false
    stream.asked += parts
    if (stream.isEnded) return true
    stream.reader ??= new PartReader(stream.source, toForm(form), stream.joinMilliseconds)
    if (!stream.isSending) void this.#send(name, stream, stream.reader, send)
    return true
  }

  /** Ends a stream. False when there is none with this name. */
  cancel(name: string): boolean {
    return this.#end(name, 'cancelled')
  }

  closeAll(): void {
    this.#isClosed = true
    for (const name of this.#streams.keys()) this.#end(name, 'closed')
  }

  #end(name: string, how: StreamEnd): boolean {
    const stream = this.#streams.get(name)
    if (stream === undefined || stream.isEnded) return false
    end(stream, how)
    return true
  }

  /** Begins to read a source of the run; a new reading ends the previous one. */
  #begin(name: string): OpenStream | undefined {
    const [, source = ''] = readingName.exec(name) ?? []
    if (this.#isClosed || !Object.hasOwn(this.#sources, source)) return undefined
    const { count, latest } = this.#readings.get(source) ?? { count: 0, latest: '' }
    if (count >= maxReadings) return undefined
    this.cancel(latest)
    this.#readings.set(source, { count: count + 1, latest: name })
    this.offer(name, this.#sources[source]!())
    return this.#streams.get(name)
  }

  async #send(name: string, stream: OpenStream, reader: PartReader, send: SendPart): Promise<void> {
    stream.isSending = true
    while (!stream.isEnded && stream.sent < stream.asked) {
      const part = await reader.next()
      if (stream.isEnded) return
      stream.sent += 1
      if (part.isLast) end(stream, part.failure === '' ? 'complete' : (JSON.parse(part.failure) as FetchFailure))
      const backlog = send(name, part)
      if (backlog !== undefined) await backlog
    }
    stream.isSending = false
  }
}

function end(stream: OpenStream, how: StreamEnd): void {
  stream.isEnded = true
  const reader = stream.reader ?? new PartReader(stream.source, 'bytes')
  reader.close()
  stream.onEnd?.(how)
}

function toForm(form: string): Form {
  return form === 'text' ? 'text' : 'bytes'
}
