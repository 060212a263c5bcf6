import { ed25519 } from '@noble/curves/ed25519.js'
import type { Family } from './key.ts'
import { octetKeyPairs, octetPairOf } from './octet-key-pairs.ts'

const signatureBytes = 64

export const family: Family = {
  ...octetKeyPairs('Ed25519', {
    curve: ed25519,
    lastOctet: 0x70,
    usages: { public: ['verify'], private: ['sign'] },
    alg: 'Ed25519',
  }),
  sign: (_algorithm, key, data) => ed25519.sign(data, octetPairOf(key).secretKey!),
  verify: (_algorithm, key, signature, data) =>
    signature.length === signatureBytes &&
    ed25519.verify(signature, data, octetPairOf(key).publicKey, { zip215: false }) &&
    hasFullOrder(signature.subarray(0, signatureBytes / 2)),
}

/** Whether a part of a signature is a point as signing makes it. The library accepts also points of a small order. */
function hasFullOrder(point: Uint8Array): boolean {
  return !ed25519.Point.fromBytes(point).isSmallOrder()
}
