import { hmac } from '@noble/hashes/hmac.js'
import { hashOf } from './hashes.ts'
import { areEqual, dataError, type Algorithm, type CryptoKey, type Family, type Imported } from './key.ts'
import { exportOctets, importOctets, octetsOf } from './octets.ts'

export const family: Family = {
  usages: { secret: ['sign', 'verify'] },
  importKey: (format, data, algorithm) => toKey(importOctets('HMAC', format, data), algorithm),
  exportKey: (format, key) =>
    exportOctets('HMAC', format, key, () => `HS${hashOf(key.algorithm['hash']).name.slice(4)}`),
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
  if (material.length === 0) throw dataError('A key of HMAC must have at least one byte')
  const { name } = hashOf(algorithm['hash'])
  return { type: 'secret', algorithm: { name: 'HMAC', hash: { name }, length: material.length * 8 }, material }
}

function compute(key: CryptoKey, data: Uint8Array): Uint8Array {
  return hmac(hashOf(key.algorithm['hash']).hash, octetsOf(key), data)
}
