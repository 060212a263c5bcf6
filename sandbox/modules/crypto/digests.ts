import type { Transform } from 'stream'
import { hmac } from '@noble/hashes/hmac.js'
import { md5, ripemd160, sha1 } from '@noble/hashes/legacy.js'
import { sha224, sha384, sha512, sha512_224, sha512_256 } from '@noble/hashes/sha2.js'
import { sha3_224, sha3_256, sha3_384, sha3_512 } from '@noble/hashes/sha3.js'
import type { CHash } from '@noble/hashes/utils.js'
import { codedError, invalidType } from '../../prelude/node-errors.ts'
import { forLargeContents } from '../../prelude/subtle/large-contents.ts'
import { sha256 } from '../../prelude/subtle/sha256.ts'
import { transformLazily } from './lazy-transform.ts'

export type Encoding = 'hex' | 'base64' | 'base64url' | 'latin1' | 'binary' | 'utf8'

/** A digest or a message authentication code in progress. */
interface Computation {
  update(bytes: Uint8Array): unknown
  digest(): Uint8Array
  clone(): Computation
}

/** The hashes that the process around the isolate computes as well. */
const common = { md5, sha1, sha224, sha256, sha384, sha512 }

const hashes = new Map<string, CHash>([
  ...Object.entries({ ...common, ripemd160 }),
  ['sha512-224', sha512_224],
  ['sha512-256', sha512_256],
  ['sha3-224', sha3_224],
  ['sha3-256', sha3_256],
  ['sha3-384', sha3_384],
  ['sha3-512', sha3_512],
])

/** The same, for contents of any size. */
const contentHashes = new Map(hashes)
for (const [name, hash] of Object.entries(common)) contentHashes.set(name, forLargeContents(name, hash))

/** The part of Node's `crypto` without keys: hashes and random values. */
export function createDigests(): Record<string, unknown> {
  return {
    webcrypto: crypto,
    get subtle() {
      return (crypto as { subtle?: unknown }).subtle
    },
    getRandomValues: crypto.getRandomValues,
    randomUUID: crypto.randomUUID,
    randomBytes,
    pseudoRandomBytes: randomBytes,
    randomFillSync,
    randomFill,
    randomInt,
    timingSafeEqual,
    createHash: (name: unknown) => new Hash(createHash(name)),
    createHmac: (name: unknown, key: unknown) => new Hmac(createHmac(name, key)),
    Hash: constructible(Hash, createHash),
    Hmac: constructible(Hmac, createHmac),
    hash: (name: unknown, data: unknown, encoding: Encoding = 'hex') =>
      new Hash(contentHashCalled(name).create()).update(data).digest(encoding),
    getHashes: () => [...hashes.keys()],
    getFips: () => 0,
  }
}

/** The common part of Node's `Hash` and `Hmac`. Both are streams as well, whose output is the digest. */
class Digest {
  protected readonly computation: Computation
  #isFinal = false
  #result: Uint8Array | undefined

  constructor(computation: Computation) {
    this.computation = computation
    Object.defineProperty(this, 'computation', { enumerable: false })
  }

  update(data: unknown, encoding?: Encoding): this {
    if (this.#isFinal) throw codedError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called')
    this.computation.update(toBytes(data, encoding))
    return this
  }

  digest(encoding?: Encoding): Buffer | string {
    if (this.#isFinal) throw codedError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called')
    this.#isFinal = true
    return toOutput(this.result(), encoding)
  }

  /** The digest, which code may also ask for after the end of the stream. */
  protected result(): Uint8Array {
    return (this.#result ??= this.computation.digest())
  }

  _transform(chunk: unknown, encoding: string, callback: () => void): void {
    this.update(chunk, encoding === 'buffer' ? undefined : (encoding as Encoding))
    callback()
  }

  _flush(callback: () => void): void {
    ;(this as unknown as Transform).push(toOutput(this.result()))
    callback()
  }
}

class Hash extends Digest {
  copy(): Hash {
    return new Hash(this.computation.clone())
  }
}

class Hmac extends Digest {
  #isRead = false

  /** The second call has an empty result, as in Node. */
  override digest(encoding?: Encoding): Buffer | string {
    const bytes = this.#isRead ? new Uint8Array(0) : this.result()
    this.#isRead = true
    return toOutput(bytes, encoding)
  }
}

transformLazily(Digest)

/** Lets code name a class, and call it with the arguments of Node's. */
function constructible(Class: typeof Digest, create: (...values: unknown[]) => Computation): unknown {
  const construct = (_target: unknown, values: unknown[]) => new Class(create(...values))
  return new Proxy(Class, { construct, apply: (_target, _this, values: unknown[]) => construct(undefined, values) })
}

function createHash(name: unknown): Computation {
  if (typeof name !== 'string') throw invalidType('algorithm', 'of type string', name)
  return contentHashCalled(name).create()
}

const keyTypes = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey'

function createHmac(name: unknown, key: unknown): Computation {
  if (typeof name !== 'string') throw invalidType('hmac', 'of type string', name)
  if (key === undefined || key === null || typeof key === 'number') throw invalidType('key', keyTypes, key)
  return hmac.create(contentHashCalled(name), toBytes(key))
}

/** Finds a hash by its name, which may be that of a signature with it: `RSA-SHA256`. */
export function hashCalled(name: unknown): CHash {
  return hashes.get(hashNameOf(name))!
}

function contentHashCalled(name: unknown): CHash {
  return contentHashes.get(hashNameOf(name))!
}

/** @throws Error when no hash has this name */
export function hashNameOf(name: unknown): string {
  const asked = String(name)
    .toLowerCase()
    .replace(/^rsa-/, '')
    .replace(/^rmd160$/, 'ripemd160')
  const known = [asked, asked.replace('-', '')].find((candidate) => hashes.has(candidate))
  if (known === undefined) throw new Error(`Digest method not supported: use one of ${[...hashes.keys()].join(', ')}`)
  return known
}

export function toBytes(data: unknown, encoding?: Encoding): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, encoding)
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  if (isSecretKey(data)) return data.export()
  throw invalidType('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data)
}

/** A `KeyObject` with a secret. */
function isSecretKey(data: unknown): data is { export(): Uint8Array } {
  return typeof data === 'object' && data !== null && (data as { type?: unknown }).type === 'secret'
}

/** Bytes as Node returns them: a `Buffer`, or text in an encoding. */
export function toOutput(bytes: Uint8Array, encoding?: Encoding | null): Buffer | string {
  const output = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
  return !encoding || (encoding as string) === 'buffer' ? output : output.toString(encoding)
}

function randomBytes(size: number, callback?: (error: null, bytes: Buffer) => void): Buffer | undefined {
  const bytes = randomFillSync(Buffer.alloc(size))
  if (callback === undefined) return bytes
  queueMicrotask(() => callback(null, bytes))
  return undefined
}

const quota = 65_536

function randomFillSync<View extends ArrayBufferView>(view: View, start = 0, size = view.byteLength - start): View {
  const bytes = new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset + start, size)
  for (let at = 0; at < size; at += quota) crypto.getRandomValues(bytes.subarray(at, at + quota))
  return view
}

function randomFill(view: ArrayBufferView, ...values: unknown[]): void {
  const callback = values.pop() as (error: null, view: ArrayBufferView) => void
  randomFillSync(view, ...(values as number[]))
  queueMicrotask(() => callback(null, view))
}

type GiveNumber = (error: null, number: number) => void

/** A number from `first` (inclusive) to `end` (exclusive), from 0 with one argument; given to the callback, if there is one. */
function randomInt(first: number, ...values: (number | GiveNumber | undefined)[]): number | undefined {
  const callback = values.findLast((value) => typeof value === 'function')
  const end = values.find((value) => typeof value === 'number')
  const number = numberBetween(first, end)
  if (callback === undefined) return number
  queueMicrotask(() => callback(null, number))
  return undefined
}

/** The largest range of Node's `randomInt`: 48 bits. */
const largestRange = 2 ** 48 - 1

function numberBetween(first: number, end: number | undefined): number {
  const [low, high] = end === undefined ? [0, first] : [first, end]
  checkSafe('min', low)
  checkSafe('max', high)
  const range = high - low
  if (range <= 0) throw outOf('max', `greater than the value of "min" (${low})`, high)
  if (range > largestRange) throw outOf(end === undefined ? 'max' : 'max - min', `<= ${largestRange}`, range)
  // Rejects the last numbers, which would make the start of the range more likely.
  const fair = 2 ** 48 - (2 ** 48 % range)
  for (;;) {
    const [upper, lower] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]
    const number = (upper % 2 ** 16) * 2 ** 32 + lower
    if (number < fair) return low + (number % range)
  }
}

function checkSafe(name: string, value: unknown): void {
  if (Number.isSafeInteger(value)) return
  throw codedError('ERR_INVALID_ARG_TYPE', `The "${name}" argument must be a safe integer`, TypeError)
}

function outOf(name: string, rule: string, value: number): Error {
  const message = `The value of "${name}" is out of range. It must be ${rule}. Received ${value}`
  return codedError('ERR_OUT_OF_RANGE', message, RangeError)
}

function timingSafeEqual(one: unknown, other: unknown): boolean {
  for (const [index, value] of [one, other].entries()) {
    if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)) {
      const message = `The "buf${index + 1}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`
      throw codedError('ERR_INVALID_ARG_TYPE', message, TypeError)
    }
  }
  const [first, second] = [toBytes(one), toBytes(other)]
  if (first.length !== second.length) {
    const message = 'Input buffers must have the same byte length'
    throw codedError('ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', message, RangeError)
  }
  let difference = 0
  for (let index = 0; index < first.length; index += 1) difference |= first[index]! ^ second[index]!
  return difference === 0
}
