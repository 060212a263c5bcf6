import { mgf1, OAEP, type KEM } from 'micro-rsa-dsa-dh/rsa.js'
import { hashOf } from './hashes.ts'
import { operationError, toBytes, type Algorithm, type CryptoKey, type Family } from './key.ts'
import { publicOf, rsaKeys, secretOf } from './rsa-keys.ts'

export const family: Family = {
  ...rsaKeys('RSA-OAEP', {
    alg: { 'SHA-1': 'RSA-OAEP', 'SHA-256': 'RSA-OAEP-256', 'SHA-384': 'RSA-OAEP-384', 'SHA-512': 'RSA-OAEP-512' },
    usages: { public: ['encrypt', 'wrapKey'], private: ['decrypt', 'unwrapKey'] },
  }),
  encrypt(algorithm, key, data) {
    const scheme = schemeOf(algorithm, key)
    try {
      return scheme.encrypt(publicOf(key), data)
    } catch {
      throw operationError('The data is too long for the key')
    }
  },
  decrypt(algorithm, key, data) {
    const scheme = schemeOf(algorithm, key)
    try {
      return scheme.decrypt(secretOf(key), data)
    } catch {
      // One message for all reasons: a sender must not learn more.
      throw operationError('The data was encrypted for another key or with other parameters, or was changed')
    }
  },
}

function schemeOf({ label }: Algorithm, key: CryptoKey): KEM {
  const { hash } = hashOf(key.algorithm['hash'])
  return OAEP(hash, mgf1(hash), label === undefined ? undefined : toBytes(label, 'algorithm.label'))
}
