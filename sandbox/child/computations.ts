import { createHash, pbkdf2, scrypt, type Hash } from 'node:crypto'
import { answerBytes, refused } from '../isolate/computing.ts'

/** Bytes that the hashes write, of those that are computed here. */
const hashBytes: Record<string, number> = { md5: 16, sha1: 20, sha224: 28, sha256: 32, sha384: 48, sha512: 64 }

/** Hashes of a realm that have been begun and not ended; code may leave some so. */
const maxHashes = 64
const maxResultBytes = 1024
/** So that the main thread is busy for about a millisecond. */
const maxDataBytes = 2 ** 20
/** Half a second of SHA-512. Many recommend 600,000 iterations of SHA-256. */
const maxIterations = 1_000_000
/** `N` × `r`: 32 MB of memory, which is Node's limit. */
const maxScryptCost = 2 ** 18

const nothing = new Uint8Array(0)

/**
 * Hashes of large contents, and keys of passwords, which the code of a realm has this process compute with OpenSSL: without
 * JIT compilers, JavaScript takes some five hundred times as long. The thread of the isolate waits meanwhile, so it has one
 * request at a time, and its run is charged for the processor time (`sandbox/isolate/computing.ts`).
 *
 * The requests are words, with bytes as data:
 * - `begin <hash>` gives the first part of a content, and has an id of the hash as its result, a number of 32 bits.
 * - `update <id>` gives the next part; its result is empty.
 * - `copy <id>` has the id of a second hash of the same parts as its result.
 * - `digest <id>` gives the last part, and has the digest as its result.
 * - `pbkdf2 <hash> <iterations> <length> <n>`: the first `n` bytes of the data are the password, the others the salt.
 * - `scrypt <N> <r> <p> <length> <n>`, likewise.
 *
 * Whatever is beyond a bound is refused, and computed in the isolate then.
 */
export class Computations {
  /** The memory that the isolate shares: the answers. */
  readonly memory = new SharedArrayBuffer(answerBytes + maxResultBytes)
  readonly #header = new Int32Array(this.memory, 0, 2)
  readonly #result = new Uint8Array(this.memory, answerBytes)
  readonly #hashes = new Map<number, Hash>()
  #lastId = 0

  /** Answers a request, each once. */
  compute(request: string, data: unknown): void {
    let result: Uint8Array | Promise<Uint8Array> | undefined
    try {
      result = this.#begin(request.split(' '), data)
    } catch {
      result = undefined
    }
    if (result instanceof Promise) result.then((bytes) => this.#answer(bytes)).catch(() => this.#answer(undefined))
    else this.#answer(result)
  }

  #begin([what, ...words]: string[], data: unknown): Uint8Array | Promise<Uint8Array> | undefined {
    if (!(data instanceof ArrayBuffer) || data.byteLength > maxDataBytes) return undefined
    const bytes = new Uint8Array(data)
    const [first = '', second = '', ...rest] = words
    switch (what) {
      case 'begin':
        return Object.hasOwn(hashBytes, first) ? this.#add(() => createHash(first).update(bytes)) : undefined
      case 'update':
        return this.#hashes.get(Number(first))?.update(bytes) && nothing
      case 'copy':
        return this.#add(() => this.#hashes.get(Number(first))?.copy())
      case 'digest':
        return this.#digest(Number(first), bytes)
      case 'pbkdf2':
        return derivePbkdf2(first, [second, ...rest].map(Number), bytes)
      case 'scrypt':
        return deriveScrypt(words.map(Number), bytes)
      default:
        return undefined
    }
  }

  #add(begin: () => Hash | undefined): Uint8Array | undefined {
    const hash = this.#hashes.size < maxHashes ? begin() : undefined
    if (hash === undefined) return undefined
    this.#lastId += 1
    this.#hashes.set(this.#lastId, hash)
    return new Uint8Array(Uint32Array.of(this.#lastId).buffer)
  }

  #digest(id: number, bytes: Uint8Array): Uint8Array | undefined {
    const hash = this.#hashes.get(id)
    this.#hashes.delete(id)
    return hash?.update(bytes).digest()
  }

  #answer(bytes: Uint8Array | undefined): void {
    if (bytes !== undefined) this.#result.set(bytes)
    this.#header[1] = bytes?.length ?? refused
    Atomics.add(this.#header, 0, 1)
    Atomics.notify(this.#header, 0)
  }
}

function derivePbkdf2(hash: string, numbers: number[], bytes: Uint8Array): Promise<Uint8Array> | undefined {
  const [iterations = 0, length = 0, passwordLength = 0] = numbers
  if (!Object.hasOwn(hashBytes, hash) || !areCounts(iterations, length) || length > maxResultBytes) return undefined
  const blocks = Math.ceil(length / hashBytes[hash]!)
  if (iterations * blocks > maxIterations) return undefined
  const [password, salt] = parted(bytes, passwordLength)
  return derived((done) => pbkdf2(password, salt, iterations, length, hash, done))
}

/** The end of the derivation before: each takes much memory. */
let lastScrypt: Promise<unknown> = Promise.resolve()

function deriveScrypt(numbers: number[], bytes: Uint8Array): Promise<Uint8Array> | undefined {
  const [N = 0, r = 0, p = 0, length = 0, passwordLength = 0] = numbers
  if (!areCounts(N, r, p, length) || length > maxResultBytes || N * r * p > maxScryptCost) return undefined
  const [password, salt] = parted(bytes, passwordLength)
  const options = { N, r, p, maxmem: 128 * (N + p + 2) * r }
  const result = lastScrypt.then(() => derived((done) => scrypt(password, salt, length, options, done)))
  lastScrypt = result.catch(() => {})
  return result
}

/** OpenSSL takes 0 for a default. */
function areCounts(...numbers: number[]): boolean {
  return numbers.every((number) => Number.isSafeInteger(number) && number > 0)
}

function parted(bytes: Uint8Array, at: number): [Uint8Array, Uint8Array] {
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

function derived(derive: (done: (error: Error | null, key: Uint8Array) => void) => void): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    derive((error, key) => (error === null ? resolve(key) : reject(error)))
  })
}
