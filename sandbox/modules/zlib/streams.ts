import { Transform, type TransformCallback } from 'stream'
import { Z_FINISH, Z_FULL_FLUSH, Z_NO_FLUSH, type Z_FlushMode } from 'pako'
import type { Coder, OpenCoder } from './coder.ts'
import { bytesOf, type ZlibOptions } from './options.ts'

/** Empty chunks that mean a flush, in the order of the data, and its kind. */
const flushes = new WeakMap<Uint8Array, Z_FlushMode>()

/** Makes a class of Node's `zlib`, which code may call without `new`. */
export function createStreamClass(name: string, open: OpenCoder): unknown {
  class ZlibStream extends Transform {
    bytesWritten = 0
    readonly #options: ZlibOptions
    readonly #coder: Coder

    constructor(options: ZlibOptions = {}) {
      // `flush` is a number for zlib, and a function for streams.
      const { flush: _flush, ...others } = options
      super(others as object)
      this.#options = options
      this.#coder = open(options, (part) => this.push(Buffer.from(part.buffer, part.byteOffset, part.length)))
    }

    override _transform(chunk: Uint8Array<ArrayBuffer>, _encoding: string, callback: TransformCallback): void {
      this.bytesWritten += chunk.length
      const flush = flushes.get(chunk) ?? this.#options.flush ?? Z_NO_FLUSH
      attempt(callback, () => this.#coder.write(bytesOf(chunk), flush))
    }

    override _flush(callback: TransformCallback): void {
      attempt(callback, () => this.#coder.write(new Uint8Array(0), this.#options.finishFlush ?? Z_FINISH))
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
  return new Proxy(ZlibStream, { apply: (Class, _this, [options]: [ZlibOptions?]) => new Class(options) })
}

function attempt(callback: TransformCallback, work: () => void): void {
  try {
    work()
  } catch (error) {
    return callback(error as Error)
  }
  callback()
}
