import { hmac } from '@noble/hashes/hmac.js'
import { md5, sha1 } from '@noble/hashes/legacy.js'
import { sha224, sha384, sha512 } from '@noble/hashes/sha2.js'
import type { CHash } from '@noble/hashes/utils.js'
import { sha256 } from './subtle/sha256.ts'
import { unavailableIn } from './unavailable.ts'

type Encoding = 'hex' | 'base64' | 'base64url' | 'latin1' | 'binary' | 'utf8'

/** A digest or a message authentication code in progress. */
interface Computation {
  update(bytes: Uint8Array): unknown
  digest(): Uint8Array
}

const hashes = new Map<string, CHash>(Object.entries({ md5, sha1, sha224, sha256, sha384, sha512 }))

/** The part of Node's `crypto` that libraries use to sign and verify requests. */
export function createCryptoModule(): object {
  return {
    webcrypto: crypto,
    get subtle() {
      return (crypto as { subtle?: unknown }).subtle
    },
    getRandomValues: crypto.getRandomValues,
    randomUUID: crypto.randomUUID,
    randomBytes,
    randomInt,
    timingSafeEqual,
    createHash: (name: unknown) => new Digest(hashCalled(name).create()),
    createHmac: (name: unknown, key: unknown) => new Digest(hmac.create(hashCalled(name), toBytes(key))),
    hash: (name: unknown, data: unknown, encoding: Encoding = 'hex') =>
      new Digest(hashCalled(name).create()).update(data).digest(encoding),
    getHashes: () => [...hashes.keys()],
    ...unavailableIn(
      'crypto',
      ['createSign', 'createVerify', 'createCipheriv', 'createDecipheriv', 'generateKeyPairSync', 'scryptSync'],
      'use crypto.subtle, or bundle a library that computes it',
    ),
  }
}

/** Node's `Hash` and `Hmac`. */
class Digest {
  readonly #computation: Computation

  constructor(computation: Computation) {
    this.#computation = computation
  }

  update(data: unknown, encoding?: Encoding): this {
    this.#computation.update(toBytes(data, encoding))
    return this
  }

  digest(encoding?: Encoding): Buffer | string {
    const bytes = Buffer.from(this.#computation.digest())
    return encoding === undefined ? bytes : encodeAs(bytes, encoding)
  }
}

function hashCalled(name: unknown): CHash {
  const hash = hashes.get(String(name).toLowerCase().replace('-', ''))
  if (hash === undefined) throw new Error(`Digest method not supported: use one of ${[...hashes.keys()].join(', ')}`)
  return hash
}

function toBytes(data: unknown, encoding?: Encoding): Uint8Array {
  if (typeof data === 'string') {
    return encoding === 'base64url' ? Buffer.from(toBase64(data), 'base64') : Buffer.from(data, encoding)
  }
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  throw new TypeError('The data must be a string, a Buffer or a view of an ArrayBuffer')
}

/** The library that provides `Buffer` lacks this encoding. */
function encodeAs(bytes: Buffer, encoding: Encoding): string {
  if (encoding !== 'base64url') return bytes.toString(encoding)
  return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function toBase64(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/')
}

function randomBytes(size: number, callback?: (error: null, bytes: Buffer) => void): Buffer | undefined {
  const bytes = Buffer.alloc(size)
  const quota = 65_536
  for (let start = 0; start < size; start += quota) crypto.getRandomValues(bytes.subarray(start, start + quota))
  if (callback === undefined) return bytes
  queueMicrotask(() => callback(null, bytes))
  return undefined
}

/** A number from `first` (inclusive) to `end` (exclusive); from 0 with one argument. */
function randomInt(first: number, end?: number): number {
  const [low, high] = end === undefined ? [0, first] : [first, end]
  const range = high - low
  if (!(range > 0 && range <= 2 ** 32)) throw new RangeError('The range of randomInt must be at most 2 ** 32')
  const numbers = new Uint32Array(1)
  // Rejects the last numbers, which would make the start of the range more likely.
  const fair = 2 ** 32 - (2 ** 32 % range)
  do crypto.getRandomValues(numbers)
  while (numbers[0]! >= fair)
  return low + (numbers[0]! % range)
}

function timingSafeEqual(one: unknown, other: unknown): boolean {
  const [first, second] = [toBytes(one), toBytes(other)]
  if (first.length !== second.length) throw new RangeError('Input buffers must have the same byte length')
  let difference = 0
  for (let index = 0; index < first.length; index += 1) difference |= first[index]! ^ second[index]!
  return difference === 0
}
