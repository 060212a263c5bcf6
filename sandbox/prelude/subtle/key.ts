/** The name and parameters of an algorithm, as callers pass them. */
export interface Algorithm {
  name: string
  [parameter: string]: unknown
}

export type KeyType = 'secret' | 'public' | 'private'
export type KeyFormat = 'raw' | 'jwk' | 'pkcs8' | 'spki'

/** A JSON Web Key, with the members that the algorithms here use. */
export interface JsonWebKey {
  kty?: string
  crv?: string
  alg?: string
  k?: string
  x?: string
  y?: string
  n?: string
  e?: string
  d?: string
  p?: string
  q?: string
  dp?: string
  dq?: string
  qi?: string
  key_ops?: string[]
  use?: string
  ext?: boolean
}

export interface KeyOptions<Material> {
  type: KeyType
  extractable: boolean
  algorithm: Algorithm
  usages: readonly string[]
  material: Material
}

/** The web's `CryptoKey`. Only the algorithms can read its material. */
export class CryptoKey {
  readonly #options: KeyOptions<unknown>

  constructor(options?: KeyOptions<unknown>) {
    if (options?.material === undefined) throw new TypeError('CryptoKey cannot be constructed: use crypto.subtle')
    this.#options = options
  }

  get type(): KeyType {
    return this.#options.type
  }

  get extractable(): boolean {
    return this.#options.extractable
  }

  get algorithm(): Algorithm {
    return this.#options.algorithm
  }

  get usages(): readonly string[] {
    return this.#options.usages
  }

  get [Symbol.toStringTag](): string {
    return 'CryptoKey'
  }

  static materialOf(key: CryptoKey): unknown {
    return key.#options.material
  }
}

/** The operations of an algorithm; an absent one is not supported. */
export interface Family {
  /** Permitted usages of each type of key. */
  usages: Partial<Record<KeyType, readonly string[]>>
  importKey(format: KeyFormat, data: Uint8Array | JsonWebKey, algorithm: Algorithm): Imported
  exportKey?(format: KeyFormat, key: CryptoKey): Uint8Array | JsonWebKey
  /** Returns one key, or a pair. */
  generateKey?(algorithm: Algorithm): Imported[]
  sign?(algorithm: Algorithm, key: CryptoKey, data: Uint8Array): Uint8Array
  verify?(algorithm: Algorithm, key: CryptoKey, signature: Uint8Array, data: Uint8Array): boolean
  encrypt?(algorithm: Algorithm, key: CryptoKey, data: Uint8Array): Uint8Array
  decrypt?(algorithm: Algorithm, key: CryptoKey, data: Uint8Array): Uint8Array
  /** @param length in bytes; by default all that there are */
  deriveBits?(algorithm: Algorithm, key: CryptoKey, length?: number): Uint8Array
}

/** A key without the properties that its user sets. */
export type Imported = Pick<KeyOptions<unknown>, 'type' | 'algorithm' | 'material'>

export function dataError(message: string): DOMException {
  return new DOMException(message, 'DataError')
}

export function operationError(message: string): DOMException {
  return new DOMException(message, 'OperationError')
}

export function invalidAccess(message: string): DOMException {
  return new DOMException(message, 'InvalidAccessError')
}

export function notSupported(message: string): DOMException {
  return new DOMException(message, 'NotSupportedError')
}

/** Copies the bytes of a parameter or of data, so that later changes have no effect. */
export function toBytes(value: unknown, what: string): Uint8Array<ArrayBuffer> {
  if (value instanceof ArrayBuffer) return new Uint8Array(value.slice(0))
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength).slice()
  }
  throw new TypeError(`${what} must be an ArrayBuffer or a view of one`)
}

/** Compares in a time that does not reveal where the values differ. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let index = 0; index < one.length; index += 1) difference |= one[index]! ^ other[index]!
  return difference === 0
}
