import { concatenate } from '../../prelude/blob.ts'
import { contentAt, readSequence, tags, writeElement, writeInteger } from '../../prelude/subtle/der.ts'
import { toDomString } from '../../prelude/text.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { toCryptoKey, type AsymmetricKey } from './asymmetric-key.ts'
import { toBytes, toOutput, type Encoding } from './digests.ts'
import { readKey, type KeyInput } from './key-object.ts'

type Bytes = Uint8Array<ArrayBuffer>

interface SignOptions {
  padding?: number
  dsaEncoding?: 'der' | 'ieee-p1363'
}

/** `RSA_PKCS1_PADDING` of `crypto.constants`. */
const supportedPadding = 1

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
  const { cryptoKey, family } = toCryptoKey(key, hash)
  const signature = family.sign!({ name: '', hash }, cryptoKey, Uint8Array.from(toBytes(data)))
  return Buffer.from(key.kind === 'ec' && options.dsaEncoding !== 'ieee-p1363' ? toDerSignature(signature) : signature)
}

function verify(digest: unknown, data: unknown, input: KeyInput, signature: unknown): boolean {
  const options = optionsOf(input)
  const key = readKey(input, 'public')
  const hash = hashNameOf(digest)
  const { cryptoKey, family } = toCryptoKey(key, hash)
  const given = Uint8Array.from(toBytes(signature))
  const plain = key.kind === 'ec' && options.dsaEncoding !== 'ieee-p1363' ? fromDerSignature(given, key) : given
  return plain !== undefined && family.verify!({ name: '', hash }, cryptoKey, plain, Uint8Array.from(toBytes(data)))
}

function optionsOf(input: KeyInput): SignOptions {
  const options = typeof input === 'object' && input !== null ? (input as SignOptions) : {}
  if (options.padding !== undefined && options.padding !== supportedPadding) {
    throw codedError('ERR_METHOD_NOT_IMPLEMENTED', 'Of the paddings of RSA, only RSA_PKCS1_PADDING is supported')
  }
  return options
}

const hashNames: Record<string, string> = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }

/** The name of a hash as `crypto.subtle` has it. Ed25519 takes none. */
function hashNameOf(digest: unknown): string {
  if (digest === null || digest === undefined) return 'SHA-256'
  const plain = toDomString(digest)
    .toLowerCase()
    .replace(/^(?:rsa|ecdsa-with)-/, '')
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

/** Undefined when it is malformed. */
function fromDerSignature(signature: Bytes, { curve }: AsymmetricKey): Bytes | undefined {
  const length = curve === 'P-384' ? 48 : 32
  try {
    const numbers = readSequence(signature)
    return concatenate([0, 1].map((at) => toLength(contentAt(numbers, at, tags.integer), length)))
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
  sign,
  verify,
}
