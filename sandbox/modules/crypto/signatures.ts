import { concatenate } from '../../prelude/blob.ts'
import { contentAt, readSequence, tags, writeElement, writeInteger } from '../../prelude/subtle/der.ts'
import { toDomString } from '../../prelude/text.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { hashOf } from '../../prelude/subtle/hashes.ts'
import { areEqual, type CryptoKey } from '../../prelude/subtle/key.ts'
import { curveCalled, toCryptoKey, type AsymmetricKey } from './asymmetric-key.ts'
import { orLater } from './derivations.ts'
import { toBytes, toOutput, type Encoding } from './digests.ts'
import { readKey, type KeyInput } from './key-object.ts'

type Bytes = Uint8Array<ArrayBuffer>

interface SignOptions {
  padding?: number
  saltLength?: number
  dsaEncoding?: 'der' | 'ieee-p1363'
}

/** `RSA_PKCS1_PADDING` and `RSA_PKCS1_PSS_PADDING` of `crypto.constants`. */
const pkcs1 = 1
const pss = 6

/** `RSA_PSS_SALTLEN_DIGEST` of `crypto.constants`; the other negative one is the largest, or any where one verifies. */
const saltOfDigest = -1

/** Node's `Sign` and `Verify`. */
class Signing {
  readonly #digest: unknown
  readonly #parts: Uint8Array[] = []

  constructor(digest: unknown) {
    hashNameOf(digest)
    this.#digest = digest
  }

  update(data: unknown, encoding?: Encoding): this {
    this.#parts.push(toBytes(data, encoding).slice())
    return this
  }

  write(data: unknown): boolean {
    this.update(data)
    return true
  }

  end(data?: unknown): this {
    return data === undefined ? this : this.update(data)
  }

  sign(key: KeyInput, encoding?: Encoding): Buffer | string {
    return toOutput(sign(this.#digest, concatenate(this.#parts), key), encoding)
  }

  verify(key: KeyInput, signature: unknown, encoding?: Encoding): boolean {
    return verify(this.#digest, concatenate(this.#parts), key, toBytes(signature, encoding))
  }
}

function sign(digest: unknown, data: unknown, input: KeyInput): Buffer {
  const options = optionsOf(input)
  const key = readKey(input, 'private')
  const hash = hashNameOf(digest)
  const { cryptoKey, family } = toCryptoKey(key, { hash, ...schemeOf(key, options) })
  if (family.sign === undefined) throw unsupportedKey(key)
  const saltLength = saltLengthOf(options, hash) ?? largestSalt(cryptoKey, hash)
  const signature = family.sign({ name: '', hash, saltLength }, cryptoKey, Uint8Array.from(toBytes(data)))
  return Buffer.from(key.kind === 'ec' && options.dsaEncoding !== 'ieee-p1363' ? toDerSignature(signature) : signature)
}

export function verify(digest: unknown, data: unknown, input: KeyInput, signature: unknown): boolean {
  const options = optionsOf(input)
  const key = readKey(input, 'public')
  const hash = hashNameOf(digest)
  const { cryptoKey, family } = toCryptoKey(key, { hash, ...schemeOf(key, options) })
  if (family.verify === undefined) throw unsupportedKey(key)
  const given = Uint8Array.from(toBytes(signature))
  const plain = key.kind === 'ec' && options.dsaEncoding !== 'ieee-p1363' ? fromDerSignature(given, key) : given
  if (plain === undefined) return false
  const saltLength = saltLengthOf(options, hash) ?? saltLengthIn(cryptoKey, plain)
  return family.verify({ name: '', hash, saltLength }, cryptoKey, plain, Uint8Array.from(toBytes(data)))
}

function optionsOf(input: KeyInput): SignOptions {
  return typeof input === 'object' && input !== null ? input : {}
}

function schemeOf({ kind }: AsymmetricKey, { padding = pkcs1 }: SignOptions): { name?: 'RSA-PSS' } {
  if (kind !== 'rsa' || padding === pkcs1) return {}
  if (padding === pss) return { name: 'RSA-PSS' }
  const message = 'Signatures with RSA have RSA_PKCS1_PADDING or RSA_PKCS1_PSS_PADDING'
  throw codedError('ERR_METHOD_NOT_IMPLEMENTED', message)
}

/** Undefined for the largest. */
function saltLengthOf({ saltLength }: SignOptions, hash: string): number | undefined {
  if (saltLength === saltOfDigest) return bytesOf(hash)
  return saltLength === undefined || saltLength < 0 ? undefined : saltLength
}

/** The length of the salt in a signature; 0 where it has none. */
function saltLengthIn(key: CryptoKey, signature: Uint8Array): number {
  if (key.algorithm.name !== 'RSA-PSS') return 0
  // oxlint-disable-next-line typescript/no-require-imports -- An import would evaluate RSA for all other keys too.
  const { saltLengthOf: find } =
    require('../../prelude/subtle/rsa-pss.ts') as typeof import('../../prelude/subtle/rsa-pss.ts')
  return find(key, signature) ?? 0
}

function largestSalt({ algorithm }: CryptoKey, hash: string): number {
  const modulusBits = Number(algorithm['modulusLength'] ?? 0)
  return Math.max(0, Math.ceil((modulusBits - 1) / 8) - bytesOf(hash) - 2)
}

function bytesOf(hash: string): number {
  return hashOf(hash).hash.outputLen
}

function unsupportedKey({ kind }: AsymmetricKey): Error {
  return codedError('ERR_CRYPTO_UNSUPPORTED_OPERATION', `Keys of ${kind} make no signatures`)
}

const hashNames: Record<string, string> = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }

/** The name of a hash as `crypto.subtle` has it. Ed25519 takes none. */
function hashNameOf(digest: unknown): string {
  if (digest === null || digest === undefined) return 'SHA-256'
  const plain = toDomString(digest)
    .toLowerCase()
    .replace(/^(?:rsa|ecdsa-with)-/, '')
    .replace(/withrsaencryption$/, '')
    .replaceAll('-', '')
  const name = hashNames[plain]
  if (name === undefined)
    throw codedError('ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${toDomString(digest)}`, TypeError)
  return name
}

function toDerSignature(signature: Uint8Array): Bytes {
  const half = signature.length / 2
  return writeElement(tags.sequence, writeInteger(signature.slice(0, half)), writeInteger(signature.slice(half)))
}

/** Undefined when it is malformed, or encoded in another way than the only right one: there would be several for one message. */
function fromDerSignature(signature: Bytes, { curve }: AsymmetricKey): Bytes | undefined {
  const length = curveCalled(curve).bytes
  try {
    const numbers = readSequence(signature)
    const plain = concatenate([0, 1].map((at) => toLength(contentAt(numbers, at, tags.integer), length)))
    return areEqual(toDerSignature(plain), signature) ? plain : undefined
  } catch {
    return undefined
  }
}

function toLength(number: Uint8Array, length: number): Uint8Array {
  const digits = number.length > length ? number.slice(number.length - length) : number
  return concatenate([new Uint8Array(length - digits.length), digits])
}

export const signatures = {
  createSign: (digest: unknown) => new Signing(digest),
  createVerify: (digest: unknown) => new Signing(digest),
  sign: orLater(sign),
  verify: orLater(verify),
}
