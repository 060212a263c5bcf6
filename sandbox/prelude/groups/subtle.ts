import type { Prelude } from '../../isolate/platform.ts'
import { defineGlobals } from '../globals.ts'
import { computeWith } from '../outside.ts'
import { CryptoKey } from '../subtle/key.ts'
import { SubtleCrypto } from '../subtle/subtle.ts'

/** Defines `crypto.subtle`, and the classes that belong to it. */
export const install: Prelude = (platform) => {
  computeWith(platform)
  defineGlobals({ CryptoKey, SubtleCrypto })
  Object.defineProperty(crypto, 'subtle', { value: new SubtleCrypto(), enumerable: true, configurable: true })
  return undefined
}
