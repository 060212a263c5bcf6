import { hkdf } from '@noble/hashes/hkdf.js'
import { derivePbkdf2, deriveScrypt } from '../../prelude/subtle/password-keys.ts'
import { hashCalled, hashNameOf, toBytes } from './digests.ts'

type Callback<Value> = (error: Error | null, value?: Value) => void

interface ScryptOptions {
  N?: number
  cost?: number
  r?: number
  blockSize?: number
  p?: number
  parallelization?: number
}

function pbkdf2Sync(password: unknown, salt: unknown, iterations: number, length: number, digest: unknown): Buffer {
  const hash = { name: hashNameOf(digest), hash: hashCalled(digest) }
  return toBuffer(derivePbkdf2(hash, toBytes(password), toBytes(salt), { c: iterations, dkLen: length }))
}

function hkdfSync(digest: unknown, key: unknown, salt: unknown, info: unknown, length: number): ArrayBuffer {
  return hkdf(hashCalled(digest), toBytes(key), toBytes(salt), toBytes(info), length).slice().buffer
}

function scryptSync(password: unknown, salt: unknown, length: number, options: ScryptOptions = {}): Buffer {
  const { N, cost = N ?? 16_384, r, blockSize = r ?? 8, p, parallelization = p ?? 1 } = options
  const parameters = { N: cost, r: blockSize, p: parallelization, dkLen: length }
  return toBuffer(deriveScrypt(toBytes(password), toBytes(salt), parameters))
}

function toBuffer(key: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(key.buffer)
}

/** Calls back later, as Node does, with what a function returns or throws. */
export function laterBy<Values extends unknown[], Value>(compute: (...values: Values) => Value) {
  return (...given: [...Values, Callback<Value>]) => {
    const callback = given.pop() as Callback<Value>
    queueMicrotask(() => {
      let value: Value
      try {
        value = compute(...(given as unknown as Values))
      } catch (error) {
        return callback(error as Error)
      }
      callback(null, value)
    })
  }
}

/** Calls back later if the last argument is a function, and returns otherwise. */
export function orLater<Value>(compute: (...values: never[]) => Value) {
  const later = laterBy(compute)
  return (...given: unknown[]): Value | undefined => {
    const callback = given[compute.length]
    if (callback === undefined) return compute(...(given as never[]))
    later(...([...given.slice(0, compute.length), callback] as [...never[], Callback<Value>]))
    return undefined
  }
}

/** Processor time is that of the run. */
export const derivations = {
  pbkdf2Sync,
  hkdfSync,
  scryptSync,
  pbkdf2: laterBy(pbkdf2Sync),
  hkdf: laterBy(hkdfSync),
  scrypt: laterBy(scryptSync),
}
