import { aeskw } from '@noble/ciphers/aes.js'
import { octetsOf } from './octets.ts'
import { operationError, type Family } from './key.ts'
import { family as aes } from './aes.ts'

/** The encryption of keys by other keys (RFC 3394), as JWE has it. */
export const family: Family = {
  usages: { secret: ['wrapKey', 'unwrapKey'] },
  importKey: aes.importKey,
  exportKey: aes.exportKey!,
  generateKey: aes.generateKey!,
  encrypt(_algorithm, key, data) {
    if (data.length % 8 !== 0 || data.length < 16)
      throw operationError('AES-KW wraps keys of at least 16 bytes, a multiple of 8')
    return aeskw(octetsOf(key)).encrypt(data)
  },
  decrypt(_algorithm, key, data) {
    try {
      return aeskw(octetsOf(key)).decrypt(data)
    } catch {
      throw operationError('The key was wrapped with another key, or was changed')
    }
  },
}
