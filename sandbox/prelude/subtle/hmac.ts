import { hmac } from '@noble/hashes/hmac.js'
import { assertKind, decodeMember, encodeBase64Url } from './base64url.ts'
import { hashOf } from './hashes.ts'
import {
  areEqual,
  CryptoKey,
  dataError,
  notSupported,
  type Algorithm,
  type Family,
  type Imported,
  type JsonWebKey,
} from './key.ts'

export const family: Family = {
  usages: { secret: ['sign', 'verify'] },
  importKey(format, data, algorithm) {
    if (format === 'raw') return toKey(data as Uint8Array, algorithm)
    if (format !== 'jwk') throw notSupported('Keys of HMAC are raw or JSON Web Keys')
    assertKind(data as JsonWebKey, 'oct')
    return toKey(decodeMember(data as JsonWebKey, 'k'), algorithm)
  },
  exportKey(format, key) {
    if (format === 'raw') return bytesOf(key)
    if (format !== 'jwk') throw notSupported('Keys of HMAC are raw or JSON Web Keys')
    return { kty: 'oct', k: encodeBase64Url(bytesOf(key)), alg: `HS${hashOf(key.algorithm['hash']).name.slice(4)}` }
  },
  generateKey(algorithm) {
    const { hash } = hashOf(algorithm['hash'])
    const bits = algorithm['length'] === undefined ? hash.blockLen * 8 : Number(algorithm['length'])
    const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil(bits / 8)))
    return [toKey(bytes, algorithm)]
  },
  sign: (_algorithm, key, data) => compute(key, data),
  verify: (_algorithm, key, signature, data) => areEqual(signature, compute(key, data)),
}

function toKey(material: Uint8Array, algorithm: Algorithm): Imported {
  if (material.length === 0) throw dataError('A key of HMAC has at least one byte')
  const { name } = hashOf(algorithm['hash'])
  return { type: 'secret', algorithm: { name: 'HMAC', hash: { name }, length: material.length * 8 }, material }
}

function bytesOf(key: CryptoKey): Uint8Array {
  return CryptoKey.materialOf(key) as Uint8Array
}

function compute(key: CryptoKey, data: Uint8Array): Uint8Array {
  return hmac(hashOf(key.algorithm['hash']).hash, bytesOf(key), data)
}
