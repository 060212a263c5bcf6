/** `crypto` with keys, for bundles that name a function of keys. */

import { ciphers } from '../crypto/ciphers.ts'
import { derivations } from '../crypto/derivations.ts'
import { createDigests } from '../crypto/digests.ts'
import { keys } from '../crypto/key-object.ts'
import { signatures } from '../crypto/signatures.ts'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (_platform, shapes) => ({
  crypto() {
    const module = { ...createDigests(), ...keys, ...signatures, ...ciphers, ...derivations }
    return complete('crypto', module, shapes['crypto'], 'use crypto.subtle, or bundle a library')
  },
})
