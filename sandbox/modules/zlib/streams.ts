import { Transform, type TransformCallback } from 'stream'
import { Z_FULL_FLUSH, type Z_FlushMode } from 'pako'
import type { Coder, OpenCoder } from './coder.ts'
import { bytesOf } from './options.ts'

/** Empty chunks that mean a flush, in the order of the data, and its kind. */
const flushes = new WeakMap<Uint8Array, Z_FlushMode>()

/** Makes a class of Node's `zlib`, which code may call without `new`. */
export function createStreamClass(name: string, open: OpenCoder): unknown {
  class ZlibStream extends Transform {
    bytesWritten = 0
    readonly #coder: Coder
    /** Makes more output, which waits for its reader. */
    #resume: (() => void) | undefined

    constructor(options?: object) {
      const coder = open(options)
      // `flush` is a number for zlib, and a function for streams. The data are bytes on both sides.
      super({ ...options, flush: undefined, encoding: undefined, objectMode: false, writableObjectMode: false })
      this.#coder = coder
    }

    override _transform(chunk: Uint8Array<ArrayBuffer>, _encoding: string, callback: TransformCallback): void {
      this.bytesWritten += chunk.length
      const flush = flushes.get(chunk) ?? this.#coder.options.flush
      this.#pass(this.#coder.write(bytesOf(chunk), flush), callback)
    }

    override _flush(callback: TransformCallback): void {
      this.#pass(this.#coder.write(new Uint8Array(0), this.#coder.options.finishFlush), callback)
    }

    override _read(size: number): void {
      if (this.#resume) return this.#resume()
      // oxlint-disable-next-line no-underscore-dangle -- The name that streams give it.
      super._read(size)
    }

    /** Makes output while there is room for it: little input can become very much. */
    #pass(parts: Generator<Uint8Array<ArrayBuffer>, void>, callback: TransformCallback): void {
      this.#resume = undefined
      try {
        for (const { buffer, byteOffset, length } of rest(parts)) {
          if (this.push(Buffer.from(buffer, byteOffset, length))) continue
          this.#resume = () => this.#pass(parts, callback)
          return
        }
      } catch (error) {
        return callback(error as Error)
      }
      callback()
    }

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
    }

    reset(): void {
      this.#coder.reset()
    }

    close(callback?: () => void): void {
      if (callback) {
        if (this.closed) process.nextTick(callback)
        else this.once('close', callback)
      }
      this.destroy()
    }
  }
  Object.defineProperty(ZlibStream, 'name', { value: name })
  return new Proxy(ZlibStream, { apply: (Class, _this, [options]: [object?]) => new Class(options) })
}

/** The values that a generator has not given yet. Leaving the loop does not end it. */
function* rest<T>(parts: Generator<T, void>): Generator<T, void> {
  for (let part = parts.next(); !part.done; part = parts.next()) yield part.value
}
