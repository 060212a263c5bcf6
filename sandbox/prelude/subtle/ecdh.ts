import { ellipticKeys, materialOf } from './elliptic-keys.ts'
import { CryptoKey, invalidAccess, operationError, type Family } from './key.ts'

/** The agreement on a secret with the owner of another key, as messages of Web Push and JWE need it. */
export const family: Family = {
  ...ellipticKeys('ECDH', { public: [], private: ['deriveKey', 'deriveBits'] }),
  deriveBits(algorithm, key, length) {
    const { curve, secretKey } = materialOf(key)
    const other = algorithm['public']
    if (!(other instanceof CryptoKey)) throw new TypeError('algorithm.public must be a CryptoKey')
    const { name, namedCurve } = other.algorithm
    if (other.type !== 'public' || name !== 'ECDH' || namedCurve !== curve.name)
      throw invalidAccess(`algorithm.public must be a public key of ECDH on the curve ${curve.name}`)
    // The secret is the first coordinate of the point, which follows a byte that tells the sign of the second one.
    const secret = curve.operations.getSharedSecret(secretKey!, materialOf(other).publicKey).subarray(1)
    if (length !== undefined && length > secret.length)
      throw operationError(`A secret of ${curve.name} has ${secret.length * 8} bits`)
    return secret.subarray(0, length)
  },
}
