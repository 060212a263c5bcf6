import { family as ecdsa } from '../../prelude/subtle/ecdsa.ts'
import { family as ed25519 } from '../../prelude/subtle/ed25519.ts'
import {
  contentAt,
  readElements,
  readSequence,
  tags,
  writeElement,
  writeInteger,
  writePrivateKey,
  writePublicKey,
  type Element,
} from '../../prelude/subtle/der.ts'
import { CryptoKey, type Algorithm, type Family, type JsonWebKey, type KeyType } from '../../prelude/subtle/key.ts'
import { family as rsa } from '../../prelude/subtle/rsa.ts'
import { codedError } from '../../prelude/node-errors.ts'

export type AsymmetricKind = 'rsa' | 'ec' | 'ed25519'

type Bytes = Uint8Array<ArrayBuffer>

/** A public or private key, as it was given. */
export interface AsymmetricKey {
  type: Exclude<KeyType, 'secret'>
  kind: AsymmetricKind
  /** The name of the curve, for `ec`. */
  curve?: string
  data: { format: 'spki' | 'pkcs8'; bytes: Bytes } | { format: 'jwk'; jwk: JsonWebKey }
}

const families: Record<AsymmetricKind, { name: string; family: Family }> = {
  rsa: { name: 'RSASSA-PKCS1-v1_5', family: rsa },
  ec: { name: 'ECDSA', family: ecdsa },
  ed25519: { name: 'Ed25519', family: ed25519 },
}

/** Object identifiers, in hexadecimal. */
const kinds: Record<string, AsymmetricKind> = {
  '2a864886f70d010101': 'rsa',
  '2a8648ce3d0201': 'ec',
  '2b6570': 'ed25519',
}
const curves: Record<string, string> = { '2a8648ce3d030107': 'P-256', '2b81040022': 'P-384' }

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
  if (jwk.kty === 'EC') return { type, kind: 'ec', curve: String(jwk.crv), data }
  if (jwk.kty === 'OKP' && jwk.crv === 'Ed25519') return { type, kind: 'ed25519', data }
  throw unsupported(`A JSON Web Key of the type '${String(jwk.kty)}' is not supported`)
}

/** The key as those of `crypto.subtle`, for use with a hash. */
export function toCryptoKey(key: AsymmetricKey, hash = 'SHA-256'): { cryptoKey: CryptoKey; family: Family } {
  const { name, family } = families[key.kind]
  const algorithm: Algorithm = { name, hash, ...(key.curve !== undefined && { namedCurve: key.curve }) }
  const { data } = key
  const imported = family.importKey(data.format, data.format === 'jwk' ? data.jwk : data.bytes, algorithm)
  return { cryptoKey: new CryptoKey({ ...imported, extractable: true, usages: [] }), family }
}

/** The public key of a private one. */
export function toPublic(key: AsymmetricKey): AsymmetricKey {
  if (key.type === 'public') return key
  return fromJwk(withoutSecret(toJwk(key)))
}

export function toJwk(key: AsymmetricKey): JsonWebKey {
  if (key.data.format === 'jwk') return key.data.jwk
  if (key.kind === 'rsa' && key.type === 'private') {
    const numbers = readSequence(contentAt(readSequence(key.data.bytes), 2, tags.octetString))
    const member = (at: number) => Buffer.from(trim(contentAt(numbers, at, tags.integer))).toString('base64url')
    const [n, e, d, p, q, dp, dq, qi] = [1, 2, 3, 4, 5, 6, 7, 8].map(member) as [string, ...string[]]
    return { kty: 'RSA', n, e: e!, d: d!, p: p!, q: q!, dp: dp!, dq: dq!, qi: qi! }
  }
  const { cryptoKey, family } = toCryptoKey(key)
  return family.exportKey!('jwk', cryptoKey) as JsonWebKey
}

/** The key as a `SubjectPublicKeyInfo` or a `PrivateKeyInfo`. */
export function toDer(key: AsymmetricKey): Bytes {
  if (key.data.format !== 'jwk') return key.data.bytes
  if (key.kind === 'rsa' && key.type === 'private') return writePrivateKey(writeRsaKey(key.data.jwk), rsaIdentifier)
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

function writeRsaKey(jwk: JsonWebKey): Bytes {
  const members = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const
  const numbers = members.map((member) => writeInteger(Buffer.from(String(jwk[member]), 'base64url')))
  return writeElement(tags.sequence, writeInteger(Uint8Array.of(0)), ...numbers)
}

function describe(format: 'spki' | 'pkcs8', bytes: Bytes): AsymmetricKey {
  const identifier = readElements(contentAt(readSequence(bytes), format === 'spki' ? 0 : 1, tags.sequence))
  const oid = hexadecimal(contentAt(identifier, 0, tags.object))
  const kind = kinds[oid]
  if (kind === undefined)
    throw unsupported('Only keys of RSA, elliptic curves (P-256, P-384) and Ed25519 are supported')
  const type = format === 'spki' ? 'public' : 'private'
  const data = { format, bytes }
  if (kind !== 'ec') return { type, kind, data }
  const curve = curves[hexadecimal(contentAt(identifier, 1, tags.object))]
  if (curve === undefined) throw unsupported('Only the curves P-256 and P-384 are supported')
  return { type, kind, curve, data }
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

function trim(bytes: Bytes): Bytes {
  const start = bytes.findIndex((byte) => byte !== 0)
  return start === -1 ? bytes : bytes.slice(start)
}

function unsupported(message: string): Error {
  return codedError('ERR_CRYPTO_UNSUPPORTED_OPERATION', message)
}
