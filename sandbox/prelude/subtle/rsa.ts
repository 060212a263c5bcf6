import { PKCS1_SHA1, PKCS1_SHA256, PKCS1_SHA384, PKCS1_SHA512 } from 'micro-rsa-dsa-dh/rsa.js'
import { hashOf } from './hashes.ts'
import { operationError, type CryptoKey, type Family } from './key.ts'
import { publicOf, rsaKeys, secretOf } from './rsa-keys.ts'

/** RSASSA-PKCS1-v1_5, the signature algorithm of Google's service accounts and many others. */

const schemes: Record<string, typeof PKCS1_SHA256> = {
  'SHA-1': PKCS1_SHA1,
  'SHA-256': PKCS1_SHA256,
  'SHA-384': PKCS1_SHA384,
  'SHA-512': PKCS1_SHA512,
}

export const family: Family = {
  ...rsaKeys('RSASSA-PKCS1-v1_5', {
    alg: { 'SHA-1': 'RS1', 'SHA-256': 'RS256', 'SHA-384': 'RS384', 'SHA-512': 'RS512' },
    usages: { public: ['verify'], private: ['sign'] },
  }),
  sign(_algorithm, key, data) {
    try {
      return schemeOf(key).sign(secretOf(key), data)
    } catch {
      throw operationError('The key is too small to sign with')
    }
  },
  verify(_algorithm, key, signature, data) {
    try {
      return schemeOf(key).verify(publicOf(key), data, signature)
    } catch {
      return false
    }
  },
}

function schemeOf(key: CryptoKey): typeof PKCS1_SHA256 {
  return schemes[hashOf(key.algorithm['hash']).name]!
}
