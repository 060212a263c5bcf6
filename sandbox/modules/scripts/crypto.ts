import { createDigests } from '../crypto/digests.ts'
import { computeWith } from '../../prelude/outside.ts'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (platform, shapes) => ({
  crypto() {
    computeWith(platform)
    return complete('crypto', createDigests(), shapes['crypto'], 'use crypto.subtle, or bundle a library')
  },
})
