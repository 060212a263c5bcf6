import { ellipticKeys, materialOf } from './elliptic-keys.ts'
import { hashOf } from './hashes.ts'
import type { Family } from './key.ts'

export const family: Family = {
  ...ellipticKeys('ECDSA', { public: ['verify'], private: ['sign'] }),
  sign(algorithm, key, data) {
    const { curve, secretKey } = materialOf(key)
    const digest = hashOf(algorithm['hash']).hash(data)
    return curve.operations.sign(digest, secretKey!, { prehash: false, lowS: false })
  },
  verify(algorithm, key, signature, data) {
    const { curve, publicKey } = materialOf(key)
    const digest = hashOf(algorithm['hash']).hash(data)
    return (
      signature.length === 2 * curve.bytes &&
      curve.operations.verify(signature, digest, publicKey, { prehash: false, lowS: false })
    )
  },
}
