import { createHasher, type CHash, type Hash } from '@noble/hashes/utils.js'
import { computeOutside } from '../outside.ts'

/** Bytes from which on a content is hashed outside of the isolate: JavaScript takes a millisecond for them. */
const smallBytes = 4096
/** Bytes that cross at once. */
const partBytes = 2 ** 20

/**
 * Makes a hash that has large contents computed outside of the isolate, a hundred to a thousand times as fast, and small ones
 * inside, without a wait.
 *
 * @param name the name of the hash, in lower case and without a hyphen
 */
export function forLargeContents(name: string, hash: CHash): CHash {
  return createHasher<AnyHash>(() => new EitherHash(name, hash))
}

class EitherHash implements AnyHash {
  readonly blockLen: number
  readonly outputLen: number
  readonly canXOF = false
  readonly #name: string
  readonly #hash: CHash
  /** The bytes that were given and not hashed yet, fewer than `smallBytes`. */
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  /** The id of the computation outside, once that is begun. */
  #id: number | undefined
  /** The computation inside, once the other one has been refused. */
  #inside: AnyHash | undefined

  constructor(name: string, hash: CHash) {
    this.#name = name
    this.#hash = hash
    this.blockLen = hash.blockLen
    this.outputLen = hash.outputLen
  }

  update(bytes: Uint8Array): this {
    if (this.#inside !== undefined) this.#inside.update(bytes)
    else if (this.#waitingBytes + bytes.length >= smallBytes) this.#cross(bytes)
    else if (bytes.length > 0) {
      this.#waiting.push(new Uint8Array(bytes))
      this.#waitingBytes += bytes.length
    }
    return this
  }

  digest(): Uint8Array<ArrayBuffer> {
    if (this.#id === undefined) return this.#insideWithAll().digest()
    return known(computeOutside(`digest ${this.#id}`, ...this.#take()))
  }

  digestInto(output: Uint8Array): void {
    output.set(this.digest())
  }

  destroy(): void {
    this.#inside?.destroy()
    this.#waiting.length = 0
  }

  clone(): AnyHash {
    return this.#copyTo(new EitherHash(this.#name, this.#hash))
  }

  _cloneInto(to = new EitherHash(this.#name, this.#hash)): AnyHash {
    return this.#copyTo(to)
  }

  #copyTo(to: EitherHash): AnyHash {
    to.#waiting = [...this.#waiting]
    to.#waitingBytes = this.#waitingBytes
    to.#inside = this.#inside?.clone()
    to.#id = this.#id === undefined ? undefined : idIn(known(computeOutside(`copy ${this.#id}`)))
    return to
  }

  /** Has the waiting bytes and these hashed outside, or inside from now on. */
  #cross(bytes: Uint8Array): void {
    const waiting = this.#take()
    let end = Math.min(partBytes - smallBytes, bytes.length)
    const first = [...waiting, bytes.subarray(0, end)]
    if (this.#id === undefined) {
      const begun = computeOutside(`begin ${this.#name}`, ...first)
      if (begun === undefined) {
        this.#waiting = waiting
        this.#insideWithAll().update(bytes)
        return
      }
      this.#id = idIn(begun)
    } else known(computeOutside(`update ${this.#id}`, ...first))
    for (let start = end; start < bytes.length; start = end) {
      end = Math.min(start + partBytes, bytes.length)
      known(computeOutside(`update ${this.#id}`, bytes.subarray(start, end)))
    }
  }

  #insideWithAll(): AnyHash {
    this.#inside ??= this.#hash.create()
    for (const part of this.#take()) this.#inside.update(part)
    return this.#inside
  }

  #take(): Uint8Array[] {
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    return waiting
  }
}

interface AnyHash extends Hash<AnyHash> {
  clone(): AnyHash
}

function idIn(result: Uint8Array<ArrayBuffer>): number {
  return new Uint32Array(result.buffer)[0]!
}

/** @throws Error when a computation that was begun outside cannot be continued there */
function known(result: Uint8Array<ArrayBuffer> | undefined): Uint8Array<ArrayBuffer> {
  if (result === undefined) throw new Error('Too many hashes of large contents have been begun and not ended')
  return result
}
