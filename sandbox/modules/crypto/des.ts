import des from 'des.js'
import type { Blocks } from './cipher-modes.ts'

/** Triple DES, in which OpenSSL encrypted private keys for long, and by which some payment services derive their keys. */

const blockBytes = 8

const Chained = des.CBC.instantiate(des.EDE)

export function tripleDes(key: Uint8Array, iv: Uint8Array | undefined, isDecipher: boolean): Blocks {
  let chained = iv?.slice()
  const Cipher = chained === undefined ? des.EDE : Chained
  return {
    bytes: blockBytes,
    convert(blocks) {
      const type = isDecipher ? 'decrypt' : 'encrypt'
      const cipher = Cipher.create({ type, key, iv: chained, padding: false })
      const converted = Uint8Array.from([...cipher.update(blocks), ...cipher.final()])
      chained &&= (isDecipher ? blocks : converted).slice(-blockBytes)
      return converted
    },
  }
}
