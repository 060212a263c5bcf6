import { Transform, type TransformCallback } from 'stream'
import { Z_FULL_FLUSH, type Z_FlushMode } from 'pako'
import type { Coder, OpenCoder } from './coder.ts'
import { bytesOf } from './options.ts'

/** Empty chunks that mean a flush, in the order of the data, and its kind. */
const flushes = new WeakMap<Uint8Array, Z_FlushMode>()

/**
 * The object behind a stream in Node, which a few packages drive themselves: `pngjs` writes into an output of its own, `minizlib` keeps it
 * from being closed.
 */
class Handle {
  readonly #coder: Coder
  /** The bytes that a step has left of its output and of its input. */
  readonly #state: Uint32Array

  constructor(coder: Coder, state: Uint32Array) {
    this.#coder = coder
    this.#state = state
  }

  /** @throws Error with a code of zlib; Node tells the stream of it */
  writeSync(
    flush: Z_FlushMode,
    input: Uint8Array | null,
    inputOffset: number,
    inputLength: number,
    output: Uint8Array,
    outputOffset: number,
    outputLength: number,
  ): void {
    const from = (
      input ? input.subarray(inputOffset, inputOffset + inputLength) : new Uint8Array(0)
    ) as Uint8Array<ArrayBuffer>
    const into = output.subarray(outputOffset, outputOffset + outputLength)
    const left = this.#coder.step(from, into as Uint8Array<ArrayBuffer>, flush)
    this.#state[0] = left.output
    this.#state[1] = left.input
  }

  reset(): void {
    this.#coder.reset()
  }

  // oxlint-disable-next-line class-methods-use-this -- There is nothing to close.
  close(): void {}
}

const coderOf = Symbol('coder')
/** Makes more output, which waits for its reader. */
const resume = Symbol('resume')
const outBuffer = Symbol('output')

interface ZlibStream extends Transform {
  [coderOf]: Coder
  [resume]: (() => void) | undefined
  [outBuffer]: Buffer | undefined
  bytesWritten: number
  _handle: Handle | null
}

/** Makes a class of Node's `zlib`, which code may call without `new`, also to derive from it. */
export function createStreamClass(name: string, open: OpenCoder): unknown {
  function Class(this: unknown, options?: object) {
    if (!(this instanceof (Class as never))) return new (Class as never as new (given?: object) => object)(options)
    const coder = open(options)
    // `flush` is a number for zlib, and a function for streams. The data are bytes on both sides.
    const given = { ...options, flush: undefined, encoding: undefined, objectMode: false, writableObjectMode: false }
    Reflect.apply(Transform, this, [given])
    const { chunkSize, flush, finishFlush } = coder.options
    const state = new Uint32Array(2)
    const internals = {
      _handle: new Handle(coder, state),
      _writeState: state,
      _outOffset: 0,
      _chunkSize: chunkSize,
      _defaultFlushFlag: flush,
      _finishFlushFlag: finishFlush,
    }
    return Object.assign(this as object, { bytesWritten: 0, [coderOf]: coder }, internals)
  }
  Object.setPrototypeOf(Class, Transform)
  Object.setPrototypeOf(Class.prototype, Transform.prototype)
  Object.defineProperties(Class.prototype, Object.getOwnPropertyDescriptors(methods))
  return Object.defineProperty(Class, 'name', { value: name })
}

/* oxlint-disable no-underscore-dangle -- The names that streams and Node's zlib give them. */
const methods: Partial<ZlibStream> & ThisType<ZlibStream> & Record<string | symbol, unknown> = {
  get _outBuffer(): Buffer {
    return (this[outBuffer] ??= Buffer.allocUnsafe(this[coderOf].options.chunkSize))
  },

  _transform(chunk: Uint8Array<ArrayBuffer>, _encoding: string, callback: TransformCallback): void {
    this.bytesWritten += chunk.length
    const flush = flushes.get(chunk) ?? this[coderOf].options.flush
    pass(this, this[coderOf].write(bytesOf(chunk), flush), callback)
  },

  _flush(callback: TransformCallback): void {
    pass(this, this[coderOf].write(new Uint8Array(0), this[coderOf].options.finishFlush), callback)
  },

  _read(size: number): void {
    const go = this[resume]
    if (go) return go()
    Transform.prototype._read.call(this, size)
  },

  /** Codes at once. The form with a callback has no user. */
  _processChunk(chunk: Uint8Array<ArrayBuffer>, flush: Z_FlushMode): Buffer {
    const whole = Buffer.concat([...this[coderOf].write(bytesOf(chunk), flush)])
    this.bytesWritten += chunk.length
    this._handle?.close()
    this._handle = null
    return whole
  },

  /** Makes the data so far decodable. */
  flush(given?: Z_FlushMode | (() => void), callback?: () => void): void {
    const kind = typeof given === 'number' ? given : Z_FULL_FLUSH
    const done = typeof given === 'function' ? given : (callback ?? (() => {}))
    if (this.writableFinished) process.nextTick(done)
    else if (this.writableEnded) this.once('end', done)
    else {
      const marker = Buffer.alloc(0)
      flushes.set(marker, kind)
      this.write(marker, done)
    }
  },

  reset(): void {
    this[coderOf].reset()
  },

  close(callback?: () => void): void {
    if (callback) {
      if (this.closed) process.nextTick(callback)
      else this.once('close', callback)
    }
    this.destroy()
  },
}
/* oxlint-enable no-underscore-dangle */

/** Makes output while there is room for it: little input can become very much. */
function pass(stream: ZlibStream, parts: Generator<Uint8Array<ArrayBuffer>, void>, callback: TransformCallback): void {
  stream[resume] = undefined
  try {
    for (const { buffer, byteOffset, length } of rest(parts)) {
      if (stream.push(Buffer.from(buffer, byteOffset, length))) continue
      stream[resume] = () => pass(stream, parts, callback)
      return
    }
  } catch (error) {
    return callback(error as Error)
  }
  callback()
}

/** The values that a generator has not given yet. Leaving the loop does not end it. */
function* rest<T>(parts: Generator<T, void>): Generator<T, void> {
  for (let part = parts.next(); !part.done; part = parts.next()) yield part.value
}
