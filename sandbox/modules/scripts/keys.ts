/** `crypto` with keys, for bundles that name a function of keys. */

import { curveNames } from '../crypto/asymmetric-key.ts'
import { ciphers } from '../crypto/ciphers.ts'
import { derivations, orLater } from '../crypto/derivations.ts'
import { createDigests } from '../crypto/digests.ts'
import { generators } from '../crypto/generate.ts'
import { keys } from '../crypto/key-object.ts'
import { signatures } from '../crypto/signatures.ts'
import { computeWith } from '../../prelude/outside.ts'
import { complete, type Provide } from '../provide.ts'

/* oxlint-disable typescript/no-require-imports -- Imports would evaluate RSA and all curves at once, which takes some 30 ms. */
const agreements = () => require('../crypto/agreements.ts') as typeof import('../crypto/agreements.ts')
const encryption = () => require('../crypto/rsa-encryption.ts') as typeof import('../crypto/rsa-encryption.ts')
const certificates = () => require('../crypto/x509-certificate.ts') as typeof import('../crypto/x509-certificate.ts')
/* oxlint-enable typescript/no-require-imports */

export const provide: Provide = (platform, shapes) => ({
  crypto() {
    computeWith(platform)
    const module = {
      ...createDigests(),
      ...keys,
      ...generators,
      ...signatures,
      ...ciphers,
      ...derivations,
      publicEncrypt: (key: unknown, data: unknown) => encryption().publicEncrypt(key, data),
      privateDecrypt: (key: unknown, data: unknown) => encryption().privateDecrypt(key, data),
      getCurves: () => [...curveNames],
      createECDH: (curve: unknown) => new (agreements().ECDH)(curve),
      get X509Certificate() {
        return certificates().X509Certificate
      },
      get ECDH() {
        return agreements().ECDH
      },
      diffieHellman: orLater((pair: { privateKey: unknown; publicKey: unknown }) => agreements().diffieHellman(pair)),
    }
    return complete('crypto', module, shapes['crypto'], 'use crypto.subtle, or bundle a library')
  },
})
