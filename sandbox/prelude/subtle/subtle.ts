import { toText } from '../text.ts'
import { hashOf } from './hashes.ts'
import {
  CryptoKey,
  dataError,
  invalidAccess,
  notSupported,
  operationError,
  toBytes,
  type Algorithm,
  type Family,
  type Imported,
  type JsonWebKey,
  type KeyFormat,
} from './key.ts'

/** The algorithms, by their names in capitals; each is loaded on first use. */
const algorithms = new Map<string, { name: string; load: () => Promise<{ family: Family }> }>(
  Object.entries({
    HMAC: () => import('./hmac.ts'),
    'AES-CBC': () => import('./aes.ts'),
    'AES-CTR': () => import('./aes.ts'),
    'AES-GCM': () => import('./aes.ts'),
    'AES-KW': () => import('./aes-kw.ts'),
    ECDH: () => import('./ecdh.ts'),
    ECDSA: () => import('./ecdsa.ts'),
    Ed25519: () => import('./ed25519.ts'),
    HKDF: () => import('./derivation.ts'),
    PBKDF2: () => import('./derivation.ts'),
    'RSA-OAEP': () => import('./rsa-oaep.ts'),
    'RSA-PSS': () => import('./rsa-pss.ts'),
    'RSASSA-PKCS1-v1_5': () => import('./rsa.ts'),
    X25519: () => import('./x25519.ts'),
  }).map(([name, load]) => [name.toUpperCase(), { name, load }]),
)

const formats = ['raw', 'jwk', 'pkcs8', 'spki']

interface Found {
  algorithm: Algorithm
  family: Family
}

/** The web's `SubtleCrypto`, for the algorithms that webhooks, tokens and secrets use. */
export class SubtleCrypto {
  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    const { hash } = hashOf(algorithm)
    return toBuffer(hash(toBytes(data, 'The data')))
  }

  async importKey(
    format: KeyFormat,
    keyData: unknown,
    algorithm: unknown,
    extractable: unknown,
    usages: Iterable<string>,
  ): Promise<CryptoKey> {
    if (!formats.includes(format)) throw new TypeError(`The key format '${format}' is not supported`)
    const parameters = normalize(algorithm)
    const data = format === 'jwk' ? { ...(keyData as JsonWebKey) } : toBytes(keyData, 'The key')
    const [isExtractable, wanted] = [Boolean(extractable), [...usages]]
    const found = await find(parameters)
    const imported = found.family.importKey(format, data, found.algorithm)
    if (format === 'jwk') assertPermitted(data as JsonWebKey, isExtractable, wanted)
    return toKey(found.family, imported, isExtractable, wanted)
  }

  async exportKey(format: KeyFormat, key: CryptoKey): Promise<ArrayBuffer | JsonWebKey> {
    if (!key.extractable) throw invalidAccess('The key is not extractable')
    const { family } = await find(normalize(key.algorithm))
    if (family.exportKey === undefined) throw notSupported(`Keys of ${key.algorithm.name} cannot be exported`)
    const exported = family.exportKey(format, key)
    if (exported instanceof Uint8Array) return toBuffer(exported)
    return { ...exported, key_ops: [...key.usages], ext: true }
  }

  async generateKey(
    algorithm: unknown,
    extractable: unknown,
    usages: Iterable<string>,
  ): Promise<CryptoKey | { publicKey: CryptoKey; privateKey: CryptoKey }> {
    const parameters = normalize(algorithm)
    const wanted = [...usages]
    const found = await find(parameters)
    if (found.family.generateKey === undefined) {
      throw notSupported(`Generating keys of ${found.algorithm.name} is not supported: import one`)
    }
    const { public: forPublic = [], private: forPrivate = [], secret = [] } = found.family.usages
    // A new key of RSA takes a second or two, so its usages are checked before.
    assertUsages([...forPublic, ...forPrivate, ...secret], wanted)
    const privateUsages = wanted.filter((usage) => forPrivate.includes(usage))
    if (forPrivate.length > 0) assertNotEmpty(privateUsages)
    const [first, second] = found.family.generateKey(found.algorithm)
    const isExtractable = Boolean(extractable)
    if (second === undefined) return toKey(found.family, first!, isExtractable, wanted)
    const publicUsages = wanted.filter((usage) => forPublic.includes(usage))
    return {
      publicKey: toKey(found.family, first!, true, publicUsages),
      privateKey: toKey(found.family, second, isExtractable, privateUsages),
    }
  }

  async sign(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    const parameters = normalize(algorithm)
    const bytes = toBytes(data, 'The data')
    const found = await find(parameters, key, 'sign')
    return toBuffer(found.family.sign!(found.algorithm, key, bytes))
  }

  async verify(algorithm: unknown, key: CryptoKey, signature: unknown, data: unknown): Promise<boolean> {
    const parameters = normalize(algorithm)
    const [signed, bytes] = [toBytes(signature, 'The signature'), toBytes(data, 'The data')]
    const found = await find(parameters, key, 'verify')
    return found.family.verify!(found.algorithm, key, signed, bytes)
  }

  async encrypt(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    const parameters = normalize(algorithm)
    const bytes = toBytes(data, 'The data')
    const found = await find(parameters, key, 'encrypt')
    return toBuffer(found.family.encrypt!(found.algorithm, key, bytes))
  }

  async decrypt(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    const parameters = normalize(algorithm)
    const bytes = toBytes(data, 'The data')
    const found = await find(parameters, key, 'decrypt')
    return toBuffer(found.family.decrypt!(found.algorithm, key, bytes))
  }

  async wrapKey(format: KeyFormat, key: CryptoKey, wrappingKey: CryptoKey, algorithm: unknown): Promise<ArrayBuffer> {
    const found = await find(normalize(algorithm), wrappingKey, 'wrapKey')
    const exported = await this.exportKey(format, key)
    const bytes = format === 'jwk' ? new TextEncoder().encode(JSON.stringify(exported)) : toBytes(exported, 'The key')
    return toBuffer(found.family.encrypt!(found.algorithm, wrappingKey, bytes))
  }

  async unwrapKey(
    format: KeyFormat,
    wrapped: unknown,
    unwrappingKey: CryptoKey,
    algorithm: unknown,
    keyAlgorithm: unknown,
    extractable: unknown,
    usages: Iterable<string>,
  ): Promise<CryptoKey> {
    const [parameters, keyParameters] = [normalize(algorithm), normalize(keyAlgorithm)]
    const bytes = toBytes(wrapped, 'The wrapped key')
    const found = await find(parameters, unwrappingKey, 'unwrapKey')
    const key = found.family.decrypt!(found.algorithm, unwrappingKey, bytes)
    return this.importKey(format, format === 'jwk' ? parseJwk(key) : key, keyParameters, extractable, usages)
  }

  async deriveBits(algorithm: unknown, key: CryptoKey, length: number | null = null): Promise<ArrayBuffer> {
    const found = await find(normalize(algorithm), key, 'deriveBits')
    return derive(found, key, length)
  }

  async deriveKey(
    algorithm: unknown,
    key: CryptoKey,
    derived: unknown,
    extractable: unknown,
    usages: Iterable<string>,
  ): Promise<CryptoKey> {
    const [parameters, keyParameters] = [normalize(algorithm), normalize(derived)]
    const found = await find(parameters, key, 'deriveKey')
    return this.importKey('raw', derive(found, key, bitsOf(keyParameters)), keyParameters, extractable, usages)
  }

  get [Symbol.toStringTag](): string {
    return 'SubtleCrypto'
  }
}

/** The parameters of all algorithms, in the order in which they are read. */
const parameterNames =
  'additionalData counter hash info iterations iv label length modulusLength namedCurve public publicExponent salt saltLength tagLength'.split(
    ' ',
  )

/** Reads the parameters once, as their getters may run code, and copies their bytes: later changes have no effect. */
function normalize(given: unknown): Algorithm {
  if (typeof given !== 'object' || given === null) return { name: toText(given) }
  const parameters = given as Algorithm
  const name: unknown = parameters.name
  if (name === undefined) throw new TypeError('The algorithm has no name')
  const normalized: Algorithm = { name: toText(name) }
  for (const parameter of parameterNames) {
    const value = parameters[parameter]
    if (value === undefined) continue
    const isBytes = ArrayBuffer.isView(value) || value instanceof ArrayBuffer
    normalized[parameter] = isBytes ? toBytes(value, parameter) : value
  }
  return normalized
}

/** Finds the algorithm of this name, and checks that the key permits this usage. */
async function find(parameters: Algorithm, key?: CryptoKey, usage?: string): Promise<Found> {
  const known = algorithms.get(parameters.name.toUpperCase())
  if (known === undefined) {
    const names = Array.from(algorithms.values(), ({ name }) => name)
    throw notSupported(`The algorithm '${parameters.name}' is not supported, only ${names.join(', ')}`)
  }
  if (usage !== undefined) {
    if (!(key instanceof CryptoKey)) throw new TypeError('The key must be a CryptoKey')
    const may = key.algorithm.name === known.name && key.usages.includes(usage)
    if (!may) throw invalidAccess(`The key may not be used to ${usage} with ${known.name}`)
  }
  const { family } = await known.load()
  return { algorithm: { ...parameters, name: known.name }, family }
}

/** The length of a key to derive; null for all bits that there are. */
function bitsOf({ name, length, hash }: Algorithm): number | null {
  if (/^(?:hkdf|pbkdf2)$/i.test(name)) return null
  return Number(length ?? hashOf(hash).hash.blockLen * 8)
}

function derive({ algorithm, family }: Found, key: CryptoKey, bits: number | null): ArrayBuffer {
  if (bits === null) return toBuffer(family.deriveBits!(algorithm, key))
  const isWhole = typeof bits === 'number' && bits >= 0 && bits % 8 === 0
  // The secrets of two keys are cut at any bit.
  if (!isWhole && !(bits > 0 && algorithm['public'] !== undefined))
    throw operationError('The length must be a number of bits and a multiple of 8')
  // The parameters count also where no bits are wanted.
  const bytes = Math.ceil(bits / 8)
  const derived = family.deriveBits!(algorithm, key, Math.max(1, bytes)).slice(0, bytes)
  if (!isWhole) derived[bytes - 1]! &= 0xff << (8 - (bits % 8))
  return toBuffer(derived)
}

function parseJwk(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw dataError('The wrapped key is not a JSON Web Key')
  }
}

/** @throws DataError if the members of the key by which it restricts its use exclude this one */
function assertPermitted({ ext, use, key_ops: operations }: JsonWebKey, extractable: boolean, usages: string[]): void {
  if (ext === false && extractable) throw dataError('The JSON Web Key is not extractable')
  const isSignature = usages.some((usage) => usage === 'sign' || usage === 'verify')
  if (use !== undefined && usages.length > 0 && use !== (isSignature ? 'sig' : 'enc'))
    throw dataError(`The JSON Web Key has the use '${use}'`)
  const missing = operations && usages.find((usage) => !operations.includes(usage))
  if (missing !== undefined) throw dataError(`The JSON Web Key does not permit to ${missing}`)
}

function toKey(family: Family, imported: Imported, extractable: boolean, usages: string[]): CryptoKey {
  const { type } = imported
  assertUsages(family.usages[type] ?? [], usages)
  if (type !== 'public') assertNotEmpty(usages)
  return new CryptoKey({ ...imported, extractable, usages: [...new Set(usages)] })
}

function assertNotEmpty(usages: readonly string[]): void {
  if (usages.length === 0) throw new DOMException('The list of the key’s usages must not be empty', 'SyntaxError')
}

function assertUsages(allowed: readonly string[], usages: readonly string[]): void {
  const wrong = usages.find((usage) => !allowed.includes(usage))
  if (wrong !== undefined) throw new DOMException(`Such a key cannot be used to ${wrong}`, 'SyntaxError')
}

function toBuffer(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice().buffer
}
