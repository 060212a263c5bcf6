import { createDigests } from '../crypto/digests.ts'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (_platform, shapes) => ({
  crypto: () => complete('crypto', createDigests(), shapes['crypto'], 'use crypto.subtle, or bundle a library'),
})
