import { readElements, tags } from '../../prelude/subtle/der.ts'
import type { Imported, JsonWebKey } from '../../prelude/subtle/key.ts'
import { codedError, invalidType } from '../../prelude/node-errors.ts'
import {
  curveCalled,
  fromCryptoKey,
  fromJwk,
  readDer,
  toDer,
  toInnerDer,
  toJwk,
  toPublic,
  type AsymmetricKey,
  type AsymmetricKind,
} from './asymmetric-key.ts'
import { toBytes, type Encoding } from './digests.ts'
import { decryptPem, decryptPkcs8, encryptPkcs8 } from './encrypted-key.ts'
import { findPem, writePem } from './pem.ts'

type Bytes = Uint8Array<ArrayBuffer>

export interface ExportOptions {
  type?: 'spki' | 'pkcs1' | 'pkcs8' | 'sec1'
  format?: 'pem' | 'der' | 'jwk' | 'buffer'
  /** With `passphrase`, the encryption of a private key. */
  cipher?: string
  passphrase?: unknown
}

/** The class of the group `subtle`, which is another one than that of this script. */
type WebKey = { materialOf(key: unknown): unknown } & (new () => object)

/** Node's `KeyObject`. Keys never leave the isolate. */
export class KeyObject {
  readonly type: 'secret' | 'public' | 'private'
  readonly #material: Bytes | AsymmetricKey

  constructor(material: Bytes | AsymmetricKey) {
    this.#material = material
    this.type = material instanceof Uint8Array ? 'secret' : material.type
  }

  get asymmetricKeyType(): AsymmetricKind | undefined {
    return this.#material instanceof Uint8Array ? undefined : this.#material.kind
  }

  get asymmetricKeyDetails(): object | undefined {
    if (this.#material instanceof Uint8Array) return undefined
    const { kind, curve } = this.#material
    if (kind === 'ec') return { namedCurve: curveCalled(curve).ownName }
    if (kind !== 'rsa') return {}
    const { n, e } = toJwk(this.#material)
    return { modulusLength: bitsOf(n!), publicExponent: BigInt(`0x${Buffer.from(e!, 'base64url').toString('hex')}`) }
  }

  get symmetricKeySize(): number | undefined {
    return this.#material instanceof Uint8Array ? this.#material.length : undefined
  }

  equals(other: KeyObject): boolean {
    return this.type === other.type && exportAny(this) === exportAny(other)
  }

  export({ type, format = 'pem', cipher, passphrase }: ExportOptions = {}): Buffer | string | JsonWebKey {
    const material = this.#material
    if (material instanceof Uint8Array) {
      return format === 'jwk' ? { kty: 'oct', k: Buffer.from(material).toString('base64url') } : Buffer.from(material)
    }
    if (format === 'jwk') return toJwk(material)
    const isInner = type === 'pkcs1' || type === 'sec1'
    if (cipher !== undefined) {
      if (isInner || this.type === 'public') throw invalidKey('Only private keys of the type pkcs8 are encrypted')
      const encrypted = Buffer.from(encryptPkcs8(toDer(material), cipher, passphrase))
      return format === 'der' ? encrypted : writePem('ENCRYPTED PRIVATE KEY', encrypted)
    }
    const der = Buffer.from(isInner ? toInnerDer(material) : toDer(material))
    if (format === 'der') return der
    const owner = type === 'sec1' ? 'EC ' : isInner ? 'RSA ' : ''
    return writePem(`${owner}${this.type.toUpperCase()} KEY`, der)
  }

  get [Symbol.toStringTag](): string {
    return 'KeyObject'
  }

  /** The key that `crypto.subtle` made, even one that is not extractable: as in Node, this is no export. */
  static from(key: unknown): KeyObject {
    const Web = (globalThis as { CryptoKey?: unknown }).CryptoKey as WebKey | undefined
    if (Web === undefined || !(key instanceof Web)) throw invalidType('key', 'an instance of CryptoKey', key)
    const { type, algorithm } = key as unknown as Imported
    const material = Web.materialOf(key)
    if (type === 'secret') return new KeyObject(Uint8Array.from(material as Bytes))
    const asymmetric = fromCryptoKey({ type, algorithm, material })
    if (asymmetric === undefined) throw invalidKey(`Keys of ${algorithm.name} are not supported`)
    return new KeyObject(asymmetric)
  }

  static asymmetric(key: KeyObject): AsymmetricKey {
    if (key.#material instanceof Uint8Array) throw invalidKey('A secret is no public or private key')
    return key.#material
  }
}

/** A key as callers pass it: a PEM, a `KeyObject`, or an object with one of them, bytes or a JSON Web Key. */
export type KeyInput = unknown

interface KeyOptions {
  key: unknown
  format?: string
  type?: string
  encoding?: Encoding
  passphrase?: unknown
}

export function readKey(input: KeyInput, wanted: 'public' | 'private'): AsymmetricKey {
  const key = readAny(input, wanted)
  if (wanted === 'private' && key.type !== 'private') throw invalidKey('The key must be a private key')
  return wanted === 'public' ? toPublic(key) : key
}

function readAny(input: KeyInput, wanted: 'public' | 'private'): AsymmetricKey {
  if (input instanceof KeyObject) return KeyObject.asymmetric(input)
  if (typeof input === 'string' || ArrayBuffer.isView(input) || input instanceof ArrayBuffer) {
    return readPem(Buffer.from(toBytes(input)).toString('utf8'), undefined)
  }
  if (isCryptoKey(input)) return KeyObject.asymmetric(KeyObject.from(input))
  if (typeof input !== 'object' || input === null) throw invalidType('key', keyTypes, input)
  const { key, format, type, encoding, passphrase } = input as KeyOptions
  if (key instanceof KeyObject) return KeyObject.asymmetric(key)
  if (isCryptoKey(key)) return KeyObject.asymmetric(KeyObject.from(key))
  if (format === 'jwk') return fromJwk(key as JsonWebKey)
  if (key === undefined || key === null) throw invalidType('key.key', keyTypes, key)
  const bytes = Uint8Array.from(toBytes(key, encoding))
  if (format !== 'der') return readPem(Buffer.from(bytes).toString('utf8'), passphrase)
  const isEncrypted = type === 'pkcs8' && readElements(bytes)[0]?.content[0] === tags.sequence
  return readDer(labelOf(type, wanted), isEncrypted ? decryptPkcs8(bytes, passphrase) : bytes)
}

const keyTypes = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey'

function isCryptoKey(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object CryptoKey]'
}

/** The label that a PEM of this encoding has. */
function labelOf(type: string | undefined, wanted: 'public' | 'private'): string {
  const owner = type === 'pkcs1' ? 'RSA ' : type === 'sec1' ? 'EC ' : ''
  const isPublic = type === 'spki' || (type === 'pkcs1' && wanted === 'public')
  return `${owner}${isPublic ? 'PUBLIC' : 'PRIVATE'} KEY`
}

function readPem(text: string, passphrase: unknown): AsymmetricKey {
  const pem = findPem(text)
  if (pem === undefined) throw codedError('ERR_OSSL_UNSUPPORTED', 'error:1E08010C:DECODER routines::unsupported')
  if (pem.label === 'ENCRYPTED PRIVATE KEY') return readDer('PRIVATE KEY', decryptPkcs8(pem.bytes, passphrase))
  return readDer(pem.label, pem.fields.has('dek-info') ? decryptPem(pem, passphrase) : pem.bytes)
}

function bitsOf(modulus: string): number {
  const bytes = Buffer.from(modulus, 'base64url')
  return bytes.length * 8 - Math.clz32(bytes[0]!) + 24
}

function exportAny(key: KeyObject): string {
  return JSON.stringify(key.export({ format: 'jwk' }))
}

function invalidKey(message: string): Error {
  return codedError('ERR_INVALID_ARG_VALUE', message, TypeError)
}

export const keys = {
  KeyObject,
  createSecretKey: (key: unknown, encoding?: Encoding) => new KeyObject(Uint8Array.from(toBytes(key, encoding))),
  createPublicKey: (input: KeyInput) => new KeyObject(readKey(input, 'public')),
  createPrivateKey: (input: KeyInput) => new KeyObject(readKey(input, 'private')),
}
