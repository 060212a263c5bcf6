import type { Duplex, DuplexOptions, Readable, ReadableOptions, Writable, WritableOptions } from 'stream'
import stream from 'readable-stream/lib/stream.js'
import { codedError, invalidType } from '../prelude/node-errors.ts'

/** The streams of the web in forms of Node and the other way round, which the library lacks. */

type Finish = (error?: Error | null) => void
type Pair = { readable?: ReadableStream; writable?: WritableStream }

/** @returns the `Readable` of a stream of the web, which it locks */
export function readableFromWeb(web: ReadableStream, options: ReadableOptions = {}): Readable {
  if (typeof (web as Partial<ReadableStream> | null)?.getReader !== 'function')
    throw invalidType('readableStream', 'an instance of ReadableStream', web)
  const { highWaterMark, encoding, objectMode = false, signal } = options
  const source = readFrom(web, () => readable)
  const readable = new stream.Readable({ highWaterMark, encoding, objectMode, signal, ...source })
  return readable
}

/** @returns the `Writable` of a stream of the web, which it locks */
export function writableFromWeb(web: WritableStream, options: WritableOptions = {}): Writable {
  if (typeof (web as Partial<WritableStream> | null)?.getWriter !== 'function')
    throw invalidType('writableStream', 'an instance of WritableStream', web)
  const { highWaterMark, decodeStrings = true, objectMode = false, signal } = options
  const target = writeTo(web, () => writable)
  const writable = new stream.Writable({ highWaterMark, objectMode, decodeStrings, signal, ...target })
  return writable
}

/** @returns the `Duplex` of a pair of streams of the web, such as a `TransformStream` */
export function duplexFromWeb(pair: Pair, options: DuplexOptions = {}): Duplex {
  const { readable, writable } = pair
  if (typeof readable?.getReader !== 'function')
    throw invalidType('pair.readable', 'an instance of ReadableStream', readable)
  if (typeof writable?.getWriter !== 'function')
    throw invalidType('pair.writable', 'an instance of WritableStream', writable)
  const { read, destroy: cancel } = readFrom(readable, () => duplex)
  const { destroy: abort, ...target } = writeTo(writable, () => duplex)
  const { highWaterMark, decodeStrings = true, encoding, objectMode = false, signal, allowHalfOpen } = options
  const given = { highWaterMark, decodeStrings, encoding, objectMode, signal, allowHalfOpen }
  const destroy = (reason: Error | null, finish: Finish) => cancel(reason, () => abort(reason, finish))
  const duplex = new stream.Duplex({ ...given, read, ...target, destroy })
  return duplex
}

function readFrom(web: ReadableStream, get: () => Readable) {
  const reader = web.getReader()
  let isClosed = false
  const fail = (error: unknown) => {
    isClosed = true
    get().destroy(error as Error)
  }
  void reader.closed.then(() => (isClosed = true), fail)
  return {
    read() {
      void reader.read().then(({ done, value }) => get().push(done ? null : value), fail)
    },
    destroy(reason: Error | null, finish: Finish) {
      const end = () => finish(reason)
      if (isClosed) end()
      else void reader.cancel(reason).then(end, end)
    },
  }
}

function writeTo(web: WritableStream, get: () => Writable) {
  const writer = web.getWriter()
  let isClosed = false
  const fail = (error: unknown) => {
    isClosed = true
    get().destroy(error as Error)
  }
  void writer.closed.then(() => (isClosed = true), fail)
  return {
    write(chunk: unknown, _encoding: string, finish: Finish) {
      void writer.ready.then(() => writer.write(chunk)).then(() => finish(), finish)
    },
    final(finish: Finish) {
      if (isClosed) return finish()
      void writer.close().then(() => finish(), finish)
    },
    destroy(reason: Error | null, finish: Finish) {
      const end = () => finish(reason)
      if (isClosed) end()
      else void (reason ? writer.abort(reason) : writer.close()).then(end, end)
    },
  }
}

/** @returns a stream of the web with the data of a `Readable` */
export function readableToWeb(readable: Readable, options: { strategy?: QueuingStrategy } = {}): ReadableStream {
  if (typeof (readable as Partial<Readable> | null)?.read !== 'function')
    throw invalidType('streamReadable', 'an instance of stream.Readable', readable)
  const { readableObjectMode: isObjects, readableHighWaterMark: highWaterMark } = readable
  let controller: ReadableStreamDefaultController
  let isCancelled = false
  const take = (chunk: unknown) => {
    controller.enqueue(!isObjects && Buffer.isBuffer(chunk) ? bytesOf(chunk) : chunk)
    if ((controller.desiredSize ?? 0) <= 0) readable.pause()
  }
  const end = (error?: Error | null) => {
    stop()
    // The stream may fail later than it ends.
    readable.on('error', () => {})
    if (error) controller.error(whyEnded(error))
    else if (!isCancelled) controller.close()
  }
  readable.pause()
  const web = new ReadableStream(
    {
      start(given) {
        controller = given
      },
      pull() {
        readable.resume()
      },
      cancel(reason: unknown) {
        isCancelled = true
        readable.destroy(reason as Error)
      },
    },
    options.strategy ?? strategyOf(isObjects, highWaterMark),
  )
  const stop = stream.finished(readable, { writable: false }, end)
  readable.on('data', take)
  return web
}

/** @returns a stream of the web that writes into a `Writable` */
export function writableToWeb(writable: Writable): WritableStream {
  if (typeof (writable as Partial<Writable> | null)?.write !== 'function')
    throw invalidType('streamWritable', 'an instance of stream.Writable', writable)
  const { writableObjectMode: isObjects, writableHighWaterMark: highWaterMark } = writable
  let controller: WritableStreamDefaultController
  let drained: PromiseWithResolvers<void> | undefined
  let ended: PromiseWithResolvers<void> | undefined
  const stop = stream.finished(writable, { readable: false }, (given) => {
    stop()
    writable.on('error', () => {})
    const error = given && whyEnded(given)
    drained?.[error ? 'reject' : 'resolve'](error as undefined)
    ended?.[error ? 'reject' : 'resolve'](error as undefined)
    if (error || !ended) controller.error(error ?? abortError())
  })
  writable.on('drain', () => {
    drained?.resolve()
    drained = undefined
  })
  return new WritableStream(
    {
      start(given) {
        controller = given
      },
      async write(chunk: unknown) {
        if (!writable.writableNeedDrain && writable.write(chunk)) return
        drained = Promise.withResolvers()
        await drained.promise
      },
      abort(reason: unknown) {
        writable.destroy(reason as Error)
      },
      close() {
        ended = Promise.withResolvers()
        writable.end()
        return ended.promise
      },
    },
    strategyOf(isObjects, highWaterMark),
  )
}

/** @returns both directions of a `Duplex`; one that does not exist is closed */
export function duplexToWeb(duplex: Duplex): Required<Pair> {
  const readable = duplex.readable
    ? readableToWeb(duplex)
    : new ReadableStream({ start: (controller) => controller.close() })
  const writable = duplex.writable ? writableToWeb(duplex) : new WritableStream()
  if (!duplex.writable) void writable.close()
  return { readable, writable }
}

/** @returns the stream of Node for one of the web; anything else as it is */
export function nodeStreamOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'pipe' in value) return value
  const { getReader, getWriter, readable, writable } = value as Partial<ReadableStream & WritableStream & Pair>
  if (typeof getReader === 'function') return readableFromWeb(value as ReadableStream, { objectMode: true })
  if (typeof getWriter === 'function') return writableFromWeb(value as WritableStream, { objectMode: true })
  const isPair = typeof readable?.getReader === 'function' && typeof writable?.getWriter === 'function'
  return isPair ? duplexFromWeb({ readable, writable }, { objectMode: true }) : value
}

/** Measures texts too: a stream with an encoding has them. */
function strategyOf(isObjects: boolean, highWaterMark: number): QueuingStrategy {
  return { highWaterMark, size: isObjects ? () => 1 : (chunk: Uint8Array | string) => chunk.length }
}

function bytesOf({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function whyEnded(error: Error): Error {
  return (error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE' ? abortError(error) : error
}

function abortError(cause?: Error): Error {
  const error = codedError('ABORT_ERR', 'The operation was aborted')
  return Object.assign(error, { name: 'AbortError' }, cause && { cause })
}

/** Where the library looks for the end of a stream of the web. */
const isClosedPromise = Symbol.for('nodejs.webstream.isClosedPromise')

/** Lets `finished` wait for streams of the web, also for those that somebody else reads or writes. */
export function tellEnds(): void {
  const ends = new WeakMap<object, { promise: Promise<void> }>()
  const get = function (this: WithState) {
    const known = ends.get(this) ?? { promise: endOf(this) }
    ends.set(this, known)
    return known
  }
  const classes = [globalThis.ReadableStream, globalThis.WritableStream] as ({ prototype: object } | undefined)[]
  for (const Class of classes)
    if (Class) Object.defineProperty(Class.prototype, isClosedPromise, { get, configurable: true })
}

/** A stream of `web-streams-polyfill`. */
interface WithState {
  _state: string
  _storedError: unknown
}

/* oxlint-disable no-underscore-dangle -- The names that the package gives them. */
function endOf(stream: WithState): Promise<void> {
  return new Promise((resolve, reject) => {
    let state = stream._state
    const settle = () => {
      if (state === 'closed') resolve()
      // The reason is stored behind the state.
      else if (state === 'errored') queueMicrotask(() => reject(stream._storedError))
    }
    settle()
    const set = (value: string) => {
      state = value
      settle()
    }
    Object.defineProperty(stream, '_state', { get: () => state, set, configurable: true, enumerable: true })
  })
}
/* oxlint-enable no-underscore-dangle */
