import { hkdf } from '@noble/hashes/hkdf.js'
import { hashOf } from './hashes.ts'
import { CryptoKey, notSupported, operationError, toBytes, type Family } from './key.ts'
import { derivePbkdf2 } from './password-keys.ts'

export const family: Family = {
  usages: { secret: ['deriveBits', 'deriveKey'] },
  importKey(format, data, { name }) {
    if (format !== 'raw') throw notSupported(`Keys of ${name} must have the format raw`)
    return { type: 'secret', algorithm: { name }, material: data }
  },
  deriveBits(algorithm, key, length) {
    if (length === undefined) throw operationError(`${algorithm.name} requires a length`)
    const { name, hash } = hashOf(algorithm['hash'])
    const salt = toBytes(algorithm['salt'], 'algorithm.salt')
    const secret = CryptoKey.materialOf(key) as Uint8Array
    if (algorithm.name === 'PBKDF2') {
      const iterations = Number(algorithm['iterations'])
      if (!(iterations >= 1)) throw operationError('PBKDF2 requires at least one iteration')
      const plain = { name: name.toLowerCase().replace('-', ''), hash }
      return derivePbkdf2(plain, secret, salt, { c: iterations, dkLen: length })
    }
    if (length > 255 * hash.outputLen) throw operationError('HKDF derives at most 255 times the length of its hash')
    return hkdf(hash, secret, salt, toBytes(algorithm['info'], 'algorithm.info'), length)
  },
}
