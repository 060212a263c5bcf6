import type { JsonWebKey } from '../../prelude/subtle/key.ts'
import { codedError } from '../../prelude/node-errors.ts'
import {
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

type Bytes = Uint8Array<ArrayBuffer>

interface ExportOptions {
  type?: 'spki' | 'pkcs1' | 'pkcs8' | 'sec1'
  format?: 'pem' | 'der' | 'jwk' | 'buffer'
}

/** Node's `KeyObject`. Keys never leave the isolate. */
class KeyObject {
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
    if (kind === 'ec') return { namedCurve: curve === 'P-256' ? 'prime256v1' : 'secp384r1' }
    return kind === 'rsa' ? { modulusLength: bitsOf(toJwk(this.#material).n!), publicExponent: 65_537n } : {}
  }

  get symmetricKeySize(): number | undefined {
    return this.#material instanceof Uint8Array ? this.#material.length : undefined
  }

  equals(other: KeyObject): boolean {
    return this.type === other.type && exportAny(this) === exportAny(other)
  }

  export({ type, format = 'pem' }: ExportOptions = {}): Buffer | string | JsonWebKey {
    const material = this.#material
    if (material instanceof Uint8Array) {
      return format === 'jwk' ? { kty: 'oct', k: Buffer.from(material).toString('base64url') } : Buffer.from(material)
    }
    if (format === 'jwk') return toJwk(material)
    const isInner = type === 'pkcs1' || type === 'sec1'
    const der = Buffer.from(isInner ? toInnerDer(material) : toDer(material))
    if (format === 'der') return der
    const owner = type === 'sec1' ? 'EC ' : isInner ? 'RSA ' : ''
    return writePem(`${owner}${this.type.toUpperCase()} KEY`, der)
  }

  get [Symbol.toStringTag](): string {
    return 'KeyObject'
  }

  static asymmetric(key: KeyObject): AsymmetricKey {
    if (key.#material instanceof Uint8Array) throw invalidKey('A secret is no key of signatures')
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
    return readPem(Buffer.from(toBytes(input)).toString('utf8'))
  }
  const { key, format, type, encoding } = input as KeyOptions
  if (key instanceof KeyObject) return KeyObject.asymmetric(key)
  if (format === 'jwk') return fromJwk(key as JsonWebKey)
  const bytes = Uint8Array.from(toBytes(key, encoding))
  return format === 'der' ? readDer(labelOf(type, wanted), bytes) : readPem(Buffer.from(bytes).toString('utf8'))
}

/** The label that a PEM of this encoding has. */
function labelOf(type: string | undefined, wanted: 'public' | 'private'): string {
  const owner = type === 'pkcs1' ? 'RSA ' : type === 'sec1' ? 'EC ' : ''
  const isPublic = type === 'spki' || (type === 'pkcs1' && wanted === 'public')
  return `${owner}${isPublic ? 'PUBLIC' : 'PRIVATE'} KEY`
}

const pem = /-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\s]*)-----END \1-----/

function readPem(text: string): AsymmetricKey {
  const [, label, base64] = pem.exec(text) ?? []
  if (label === undefined) throw invalidKey('The key is no PEM, or is encrypted: encrypted keys are not supported')
  return readDer(label, Uint8Array.from(Buffer.from(base64!.replaceAll(/\s/g, ''), 'base64')))
}

function writePem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
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
