import { PKCS1_SHA1, PKCS1_SHA256, PKCS1_SHA384, PKCS1_SHA512 } from 'micro-rsa-dsa-dh/rsa.js'
import { assertKind, decodeMember, encodeBase64Url } from './base64url.ts'
import {
  contentAt,
  readPrivateKey,
  readPublicKey,
  readSequence,
  tags,
  writeElement,
  writeInteger,
  writePublicKey,
} from './der.ts'
import { hashOf } from './hashes.ts'
import {
  CryptoKey,
  notSupported,
  operationError,
  type Algorithm,
  type Family,
  type Imported,
  type JsonWebKey,
} from './key.ts'

/** RSASSA-PKCS1-v1_5, the signature algorithm of Google's service accounts and many others. */

interface Material {
  modulus: Uint8Array
  exponent: Uint8Array
  /** Private keys only. */
  secret?: Uint8Array
}

const schemes: Record<string, typeof PKCS1_SHA256> = {
  'SHA-1': PKCS1_SHA1,
  'SHA-256': PKCS1_SHA256,
  'SHA-384': PKCS1_SHA384,
  'SHA-512': PKCS1_SHA512,
}

/** Identifier of the algorithm in key files. */
const identifier = Uint8Array.of(0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, tags.nothing, 0x00)

export const family: Family = {
  usages: { public: ['verify'], private: ['sign'] },
  importKey(format, data, algorithm) {
    if (format === 'raw') throw notSupported('Keys of RSA must have the format pkcs8, spki or jwk')
    if (format === 'jwk') return importJwk(data as JsonWebKey, algorithm)
    const bytes = data as Uint8Array<ArrayBuffer>
    const isPublic = format === 'spki'
    const numbers = readSequence(isPublic ? readPublicKey(bytes, identifier) : readPrivateKey(bytes, identifier))
    const [modulus, exponent, secret] = (isPublic ? [0, 1] : [1, 2, 3]).map((at) =>
      contentAt(numbers, at, tags.integer),
    )
    return toKey({ modulus: modulus!, exponent: exponent!, ...(secret && { secret }) }, algorithm)
  },
  exportKey(format, key) {
    const { modulus, exponent } = materialOf(key)
    if (key.type === 'private') throw notSupported('Exporting private keys of RSA is not supported')
    if (format === 'jwk') return { kty: 'RSA', n: encodeBase64Url(trim(modulus)), e: encodeBase64Url(trim(exponent)) }
    if (format !== 'spki') throw notSupported('Public keys of RSA must have the format spki or jwk')
    const numbers = writeElement(tags.sequence, writeInteger(modulus), writeInteger(exponent))
    return writePublicKey(numbers, identifier)
  },
  sign(_algorithm, key, data) {
    const { modulus, secret } = materialOf(key)
    try {
      return schemeOf(key).sign({ n: toNumber(modulus), d: toNumber(secret!) }, data)
    } catch {
      throw operationError('The key is too small to sign with')
    }
  },
  verify(_algorithm, key, signature, data) {
    const { modulus, exponent } = materialOf(key)
    try {
      return schemeOf(key).verify({ n: toNumber(modulus), e: toNumber(exponent) }, data, signature)
    } catch {
      return false
    }
  },
}

function importJwk(jwk: JsonWebKey, algorithm: Algorithm): Imported {
  assertKind(jwk, 'RSA')
  const secret = jwk.d === undefined ? undefined : decodeMember(jwk, 'd')
  return toKey(
    { modulus: decodeMember(jwk, 'n'), exponent: decodeMember(jwk, 'e'), ...(secret && { secret }) },
    algorithm,
  )
}

function toKey(material: Material, algorithm: Algorithm): Imported {
  const { name: hash } = hashOf(algorithm['hash'])
  const modulusLength = toNumber(material.modulus).toString(2).length
  const publicExponent = trim(material.exponent)
  return {
    type: material.secret ? 'private' : 'public',
    algorithm: { name: 'RSASSA-PKCS1-v1_5', modulusLength, publicExponent, hash: { name: hash } },
    material,
  }
}

function schemeOf(key: CryptoKey): typeof PKCS1_SHA256 {
  return schemes[hashOf(key.algorithm['hash']).name]!
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`)
}

/** Removes leading zeros. */
function trim(bytes: Uint8Array): Uint8Array {
  return bytes.slice(bytes.findIndex((byte) => byte !== 0))
}

function materialOf(key: CryptoKey): Material {
  return CryptoKey.materialOf(key) as Material
}
