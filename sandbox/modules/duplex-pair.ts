import type { Duplex, DuplexOptions } from 'stream'
import stream from 'readable-stream/lib/stream.js'

type Callback = (error?: Error | null) => void

class Side extends stream.Duplex {
  other!: Side
  /** Of the write whose data this side has and has not read. */
  #written: Callback | undefined

  override _read(): void {
    const written = this.#written
    this.#written = undefined
    written?.()
  }

  override _write(chunk: { length: number }, _encoding: string, callback: Callback): void {
    if (chunk.length === 0) return process.nextTick(callback)
    this.other.push(chunk)
    this.other.#written = callback
  }

  override _final(callback: Callback): void {
    this.other.on('end', callback)
    this.other.push(null)
  }

  override _destroy(error: Error | null, callback: Callback): void {
    process.nextTick(() => {
      if (this.other.destroyed) return
      if (error) this.other.destroy()
      else this.other.push(null)
    })
    callback(error)
  }
}

/** Node's `stream.duplexPair`: what is written to one side is read on the other. */
export function duplexPair(options?: DuplexOptions): [Duplex, Duplex] {
  const [one, other] = [new Side(options), new Side(options)]
  one.other = other
  other.other = one
  return [one, other]
}
