import { mgf1, PSS, type Signer } from 'micro-rsa-dsa-dh/rsa.js'
import { I2OSP, OS2IP, pow } from 'micro-rsa-dsa-dh/utils.js'
import { hashOf } from './hashes.ts'
import { operationError, type Algorithm, type CryptoKey, type Family } from './key.ts'
import { publicOf, rsaKeys, secretOf } from './rsa-keys.ts'

export const family: Family = {
  ...rsaKeys('RSA-PSS', {
    alg: { 'SHA-1': 'PS1', 'SHA-256': 'PS256', 'SHA-384': 'PS384', 'SHA-512': 'PS512' },
    usages: { public: ['verify'], private: ['sign'] },
  }),
  sign(algorithm, key, data) {
    try {
      return schemeOf(algorithm, key).sign(secretOf(key), data)
    } catch {
      throw operationError('The key is too small for the salt and the hash')
    }
  },
  verify(algorithm, key, signature, data) {
    try {
      return schemeOf(algorithm, key).verify(publicOf(key), data, signature)
    } catch {
      return false
    }
  },
}

function schemeOf({ saltLength }: Algorithm, key: CryptoKey): Signer {
  const length = Number(saltLength)
  if (!(Number.isInteger(length) && length >= 0)) throw new TypeError('algorithm.saltLength must be a number of bytes')
  const { hash } = hashOf(key.algorithm['hash'])
  return PSS(hash, mgf1(hash), length)
}

/**
 * The length of the salt that a signature has, if it is one: Node verifies signatures with a salt of any length. Undefined for
 * anything else; the signature is yet to be verified.
 */
export function saltLengthOf(key: CryptoKey, signature: Uint8Array): number | undefined {
  const { n, e } = publicOf(key)
  const { hash } = hashOf(key.algorithm['hash'])
  const encodedBits = n.toString(2).length - 1
  const bytes = Math.ceil(encodedBits / 8)
  const maskBytes = bytes - hash.outputLen - 1
  if (signature.length !== Math.ceil((encodedBits + 1) / 8) || maskBytes < 1) return undefined
  try {
    const encoded = I2OSP(pow(OS2IP(signature), e, n), bytes)
    const mask = mgf1(hash)(encoded.subarray(maskBytes, -1), { dkLen: maskBytes })
    const block = encoded.subarray(0, maskBytes).map((octet, at) => octet ^ mask[at]!)
    block[0]! &= 0xff >> (8 * bytes - encodedBits)
    const separator = block.findIndex((octet) => octet !== 0)
    return separator === -1 ? undefined : maskBytes - separator - 1
  } catch {
    return undefined
  }
}
