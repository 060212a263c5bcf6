import {
  contentAt,
  readElements,
  readSequence,
  tags,
  writeElement,
  writePrivateKey,
  writePublicKey,
  type Element,
} from '../../prelude/subtle/der.ts'
import {
  CryptoKey,
  type Algorithm,
  type Family,
  type Imported,
  type JsonWebKey,
  type KeyType,
} from '../../prelude/subtle/key.ts'
import { codedError } from '../../prelude/node-errors.ts'

export type AsymmetricKind = 'rsa' | 'ec' | 'ed25519' | 'x25519'

type Bytes = Uint8Array<ArrayBuffer>

/** A public or private key, as it was given. */
export interface AsymmetricKey {
  type: Exclude<KeyType, 'secret'>
  kind: AsymmetricKind
  /** The name of the curve, for `ec`. */
  curve?: string
  data: { format: 'spki' | 'pkcs8'; bytes: Bytes } | { format: 'jwk'; jwk: JsonWebKey }
}

/** Algorithms of `crypto.subtle` for the kinds of keys, with the operations that keys have. */
const names = { rsa: 'RSASSA-PKCS1-v1_5', ec: 'ECDSA', ed25519: 'Ed25519', x25519: 'X25519' } as const

export type AlgorithmName = (typeof names)[AsymmetricKind] | 'RSA-PSS' | 'ECDH'

type Loaded = { family: Family }

/* oxlint-disable typescript/no-require-imports -- Imports would evaluate all of them at once, which takes some 30 ms. */
const families: Record<AlgorithmName, () => Family> = {
  'RSASSA-PKCS1-v1_5': () => (require('../../prelude/subtle/rsa.ts') as Loaded).family,
  'RSA-PSS': () => (require('../../prelude/subtle/rsa-pss.ts') as Loaded).family,
  ECDSA: () => (require('./ec-families.ts') as { ecdsa: Family }).ecdsa,
  ECDH: () => (require('./ec-families.ts') as { ecdh: Family }).ecdh,
  Ed25519: () => (require('../../prelude/subtle/ed25519.ts') as Loaded).family,
  X25519: () => (require('../../prelude/subtle/x25519.ts') as Loaded).family,
}
/* oxlint-enable typescript/no-require-imports */

/** Object identifiers, in hexadecimal. */
const kinds: Record<string, AsymmetricKind> = {
  '2a864886f70d010101': 'rsa',
  '2a8648ce3d0201': 'ec',
  '2b6570': 'ed25519',
  '2b656e': 'x25519',
}

interface Curve {
  /** In JSON Web Keys. */
  name: string
  /** Of OpenSSL. */
  ownName: string
  oid: string
  bytes: number
}

const curves: Curve[] = [
  { name: 'P-256', ownName: 'prime256v1', oid: '2a8648ce3d030107', bytes: 32 },
  { name: 'P-384', ownName: 'secp384r1', oid: '2b81040022', bytes: 48 },
  { name: 'P-521', ownName: 'secp521r1', oid: '2b81040023', bytes: 66 },
  { name: 'secp256k1', ownName: 'secp256k1', oid: '2b8104000a', bytes: 32 },
]

export const curveNames = curves.map(({ ownName }) => ownName)

/** Finds a curve by one of its names; an elliptic key has one. */
export function curveCalled(name: unknown): Curve {
  const curve = curves.find((one) => name === one.name || name === one.ownName)
  if (curve === undefined)
    throw codedError(
      'ERR_CRYPTO_INVALID_CURVE',
      `Invalid EC curve name: use one of ${curveNames.join(', ')}`,
      TypeError,
    )
  return curve
}

const hexadecimal = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

const rsaIdentifier = Uint8Array.of(0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00)
const ecIdentifier = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
const contextTag = 0xa0

/** Reads a key in the encoding that a label of a PEM names: `PUBLIC KEY`, `RSA PRIVATE KEY`, `CERTIFICATE` … */
export function readDer(label: string, bytes: Bytes): AsymmetricKey {
  switch (label) {
    case 'PUBLIC KEY':
      return describe('spki', bytes)
    case 'PRIVATE KEY':
      return describe('pkcs8', bytes)
    case 'RSA PUBLIC KEY':
      return describe('spki', writePublicKey(bytes, rsaIdentifier))
    case 'RSA PRIVATE KEY':
      return describe('pkcs8', writePrivateKey(bytes, rsaIdentifier))
    case 'EC PRIVATE KEY':
      return describe('pkcs8', wrapEcKey(bytes))
    case 'CERTIFICATE':
    case 'X509 CERTIFICATE':
      return describe('spki', publicKeyOfCertificate(bytes))
    default:
      throw unsupported(`A key with the label '${label}' is not supported`)
  }
}

export function fromJwk(jwk: JsonWebKey): AsymmetricKey {
  const type = jwk.d === undefined ? 'public' : 'private'
  const data = { format: 'jwk', jwk } as const
  if (jwk.kty === 'RSA') return { type, kind: 'rsa', data }
  if (jwk.kty === 'EC') return { type, kind: 'ec', curve: curveCalled(jwk.crv).name, data }
  if (jwk.kty === 'OKP' && jwk.crv === 'Ed25519') return { type, kind: 'ed25519', data }
  if (jwk.kty === 'OKP' && jwk.crv === 'X25519') return { type, kind: 'x25519', data }
  throw unsupported(`A JSON Web Key of the type '${String(jwk.kty)}' is not supported`)
}

/** The key as those of `crypto.subtle`, for use with a hash. */
export function toCryptoKey(
  key: AsymmetricKey,
  { hash = 'SHA-256', name = names[key.kind] }: { hash?: string; name?: AlgorithmName } = {},
): { cryptoKey: CryptoKey; family: Family } {
  const family = families[name]()
  const algorithm: Algorithm = { name, hash, ...(key.curve !== undefined && { namedCurve: key.curve }) }
  // The algorithm in a JSON Web Key does not bind those who use it here.
  const data = key.data.format === 'jwk' ? { ...key.data.jwk, alg: undefined } : key.data.bytes
  const imported = family.importKey(key.data.format, data as Bytes | JsonWebKey, algorithm)
  return { cryptoKey: new CryptoKey({ ...imported, extractable: true, usages: [] }), family }
}

/** Makes a pair of keys, the public one first. */
export function makePair(
  kind: AsymmetricKind,
  parameters: Partial<Algorithm>,
): [publicKey: AsymmetricKey, privateKey: AsymmetricKey] {
  const family = families[names[kind]]()
  const made = family.generateKey!({ hash: 'SHA-256', ...parameters, name: names[kind] })
  const [publicKey, privateKey] = made.map((one) => exportKey(kind, family, one))
  return [publicKey!, privateKey!]
}

/** The key that `crypto.subtle` made, for the functions of this module. */
export function fromCryptoKey({ algorithm, type, material }: Imported): AsymmetricKey | undefined {
  const name = algorithm.name.replace('RSA-OAEP', 'RSA-PSS') as AlgorithmName
  if (type === 'secret' || !Object.hasOwn(families, name)) return undefined
  const kind = (Object.keys(names) as AsymmetricKind[]).find((one) => names[one] === name)
  const family = families[name]()
  return exportKey(kind ?? (name === 'ECDH' ? 'ec' : 'rsa'), family, { algorithm, type, material })
}

function exportKey(kind: AsymmetricKind, family: Family, key: Imported): AsymmetricKey {
  const format = key.type === 'public' ? 'spki' : 'pkcs8'
  const cryptoKey = new CryptoKey({ ...key, extractable: true, usages: [] })
  const curve = key.algorithm['namedCurve']
  return {
    type: key.type as AsymmetricKey['type'],
    kind,
    ...(typeof curve === 'string' && { curve }),
    data: { format, bytes: family.exportKey!(format, cryptoKey) as Bytes },
  }
}

/** The public key of a private one. */
export function toPublic(key: AsymmetricKey): AsymmetricKey {
  if (key.type === 'public') return key
  return fromJwk(withoutSecret(toJwk(key)))
}

export function toJwk(key: AsymmetricKey): JsonWebKey {
  const { cryptoKey, family } = toCryptoKey(key)
  const { alg: _alg, ...members } = family.exportKey!('jwk', cryptoKey) as JsonWebKey
  return members
}

/** The key as a `SubjectPublicKeyInfo` or a `PrivateKeyInfo`. */
export function toDer(key: AsymmetricKey): Bytes {
  if (key.data.format !== 'jwk') return key.data.bytes
  const { cryptoKey, family } = toCryptoKey(key)
  return family.exportKey!(key.type === 'public' ? 'spki' : 'pkcs8', cryptoKey) as Bytes
}

/** The key as PKCS #1 or SEC 1 has it: the inner part of its other encoding. */
export function toInnerDer(key: AsymmetricKey): Bytes {
  const elements = readSequence(toDer(key))
  if (key.kind === 'ec' && key.type === 'private') return withCurve(contentAt(elements, 2, tags.octetString), elements)
  return key.type === 'public'
    ? contentAt(elements, 1, tags.bitString).slice(1)
    : contentAt(elements, 2, tags.octetString)
}

function describe(format: 'spki' | 'pkcs8', bytes: Bytes): AsymmetricKey {
  const identifier = readElements(contentAt(readSequence(bytes), format === 'spki' ? 0 : 1, tags.sequence))
  const oid = hexadecimal(contentAt(identifier, 0, tags.object))
  const kind = kinds[oid]
  if (kind === undefined) throw unsupported('Only keys of RSA, elliptic curves, Ed25519 and X25519 are supported')
  const type = format === 'spki' ? 'public' : 'private'
  const data = { format, bytes }
  if (kind !== 'ec') return { type, kind, data }
  const curveOid = hexadecimal(contentAt(identifier, 1, tags.object))
  const curve = curves.find((one) => one.oid === curveOid)
  if (curve === undefined) throw unsupported(`Only the curves ${curveNames.join(', ')} are supported`)
  return { type, kind, curve: curve.name, data }
}

/** Adds the curve, which a key in SEC 1 has among its own elements. */
function wrapEcKey(bytes: Bytes): Bytes {
  const parameters = readSequence(bytes).find(({ tag }) => tag === contextTag)
  if (parameters === undefined) throw unsupported('The key does not name its curve')
  return writePrivateKey(bytes, Uint8Array.of(...ecIdentifier, ...parameters.content))
}

/** Adds the curve, which another encoding has outside of the key. */
function withCurve(bytes: Bytes, elements: Element[]): Bytes {
  const [version, secret, ...rest] = readSequence(bytes).filter(({ tag }) => tag !== contextTag)
  const curve = readElements(contentAt(elements, 1, tags.sequence))[1]!
  const parameters = writeElement(contextTag, writeElement(curve.tag, curve.content))
  return writeElement(tags.sequence, rewrite(version!), rewrite(secret!), parameters, ...rest.map(rewrite))
}

function rewrite({ tag, content }: Element): Bytes {
  return writeElement(tag, content)
}

/** Position of the key in a certificate without a version, which has one element less. */
const keyAt = 5

function publicKeyOfCertificate(bytes: Bytes): Bytes {
  const [signed] = readSequence(bytes)
  const elements = readElements(signed!.content)
  const key = elements[elements[0]?.tag === contextTag ? keyAt + 1 : keyAt]
  return writeElement(tags.sequence, key!.content)
}

function withoutSecret({ kty, crv, x, y, n, e }: JsonWebKey): JsonWebKey {
  const members = { kty, crv, x, y, n, e }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function unsupported(message: string): Error {
  return codedError('ERR_CRYPTO_UNSUPPORTED_OPERATION', message)
}
