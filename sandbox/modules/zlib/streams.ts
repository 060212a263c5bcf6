import { Transform, type TransformCallback } from 'stream'
import type { Coder, OpenCoder } from './coders.ts'
import { bytesOf, type ZlibOptions } from './options.ts'

/** Chunks that mean a flush, in the order of the data. */
const flushes = new WeakSet<Uint8Array>()

/** Makes a class of Node's `zlib`, which code may call without `new`. */
export function createStreamClass(name: string, open: OpenCoder): unknown {
  class ZlibStream extends Transform {
    bytesWritten = 0
    readonly #options: ZlibOptions
    #coder: Coder

    constructor(options: ZlibOptions = {}) {
      // `flush` is a number for zlib, and a function for streams.
      const { flush: _flush, ...others } = options
      super(others as object)
      this.#options = options
      this.#coder = this.#open()
    }

    #open(): Coder {
      return open(this.#options, (part) =>
        this.push(Buffer.from(part.buffer as ArrayBuffer, part.byteOffset, part.length)),
      )
    }

    override _transform(chunk: Uint8Array<ArrayBuffer>, _encoding: string, callback: TransformCallback): void {
      this.bytesWritten += chunk.length
      attempt(callback, () => {
        this.#coder.push(bytesOf(chunk))
        if (flushes.has(chunk) || this.#options.flush) this.#coder.flush()
      })
    }

    override _flush(callback: TransformCallback): void {
      attempt(callback, () => this.#coder.end())
    }

    /** Makes the data so far decodable. A full flush is like `Z_SYNC_FLUSH`. */
    flush(kind?: number | (() => void), callback?: () => void): void {
      const done = typeof kind === 'function' ? kind : (callback ?? (() => {}))
      if (this.writableFinished) process.nextTick(done)
      else if (this.writableEnded) this.once('end', done)
      else {
        const marker = Buffer.alloc(0)
        if (kind !== 0) flushes.add(marker)
        this.write(marker, done)
      }
    }

    reset(): void {
      this.#coder = this.#open()
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
