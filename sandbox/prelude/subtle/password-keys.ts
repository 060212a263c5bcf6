import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { scrypt } from '@noble/hashes/scrypt.js'
import type { CHash } from '@noble/hashes/utils.js'
import { computeOutside } from '../outside.ts'

/** A hash, with its name in lower case and without a hyphen. */
export interface PlainHash {
  name: string
  hash: CHash
}

interface ScryptCost {
  N: number
  r: number
  p: number
  dkLen: number
}

/** Derives a key outside of the isolate or, where that is refused, inside: with too many iterations, or a rare hash. */
export function derivePbkdf2(
  { name, hash }: PlainHash,
  password: Uint8Array,
  salt: Uint8Array,
  { c, dkLen }: { c: number; dkLen: number },
): Uint8Array<ArrayBuffer> {
  const key = derive(`pbkdf2 ${name}`, [c, dkLen], password, salt)
  return key ?? pbkdf2(hash, password, salt, { c, dkLen })
}

/** As `derivePbkdf2`. */
export function deriveScrypt(password: Uint8Array, salt: Uint8Array, cost: ScryptCost): Uint8Array<ArrayBuffer> {
  const { N, r, p, dkLen } = cost
  const key = derive('scrypt', [N, r, p, dkLen], password, salt)
  return key ?? scrypt(password, salt, cost)
}

/** Undefined for numbers that are not whole, texts among them, which the function inside refuses. */
function derive(
  request: string,
  numbers: number[],
  password: Uint8Array,
  salt: Uint8Array,
): Uint8Array<ArrayBuffer> | undefined {
  if (!numbers.every(Number.isInteger)) return undefined
  return computeOutside([request, ...numbers, password.length].join(' '), password, salt)
}
