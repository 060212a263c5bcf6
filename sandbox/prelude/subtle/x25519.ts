import { x25519 } from '@noble/curves/ed25519.js'
import { CryptoKey, invalidAccess, operationError, type Family } from './key.ts'
import { octetKeyPairs, octetPairOf } from './octet-key-pairs.ts'

export const family: Family = {
  ...octetKeyPairs('X25519', {
    curve: x25519,
    lastOctet: 0x6e,
    usages: { public: [], private: ['deriveKey', 'deriveBits'] },
  }),
  deriveBits(algorithm, key, length = 32) {
    const other = algorithm['public']
    if (!(other instanceof CryptoKey)) throw new TypeError('algorithm.public must be a CryptoKey')
    if (other.type !== 'public' || other.algorithm.name !== 'X25519')
      throw invalidAccess('algorithm.public must be a public key of X25519')
    if (length > 32) throw operationError('A secret of X25519 has 256 bits')
    try {
      return x25519.getSharedSecret(octetPairOf(key).secretKey!, octetPairOf(other).publicKey).subarray(0, length)
    } catch {
      throw operationError('With this public key, the secret would be known to all')
    }
  },
}
