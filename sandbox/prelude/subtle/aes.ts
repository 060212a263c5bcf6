import { cbc, ctr, gcm } from '@noble/ciphers/aes.js'
import { concatenate } from '../blob.ts'
import {
  areEqual,
  dataError,
  operationError,
  toBytes,
  type Algorithm,
  type CryptoKey,
  type Family,
  type Imported,
} from './key.ts'
import { exportOctets, importOctets, octetsOf } from './octets.ts'

export const family: Family = {
  usages: { secret: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'] },
  importKey: (format, data, algorithm) => toKey(importOctets('AES', format, data), algorithm),
  exportKey: (format, key) =>
    exportOctets('AES', format, key, () => `A${octetsOf(key).length * 8}${key.algorithm.name.slice(4)}`),
  generateKey(algorithm) {
    const bytes = Number(algorithm['length']) / 8
    if (![16, 24, 32].includes(bytes)) throw operationError('A key of AES must have 128, 192 or 256 bits')
    return [toKey(crypto.getRandomValues(new Uint8Array(bytes)), algorithm)]
  },
  encrypt: (algorithm, key, data) => cipherOf(algorithm, key).encrypt(data),
  decrypt(algorithm, key, data) {
    try {
      return cipherOf(algorithm, key).decrypt(data)
    } catch (error) {
      if (error instanceof DOMException) throw error
      throw operationError('The data was encrypted with another key or other parameters, or was changed')
    }
  },
}

function toKey(material: Uint8Array, { name }: Algorithm): Imported {
  if (![16, 24, 32].includes(material.length)) throw dataError('A key of AES must have 128, 192 or 256 bits')
  return { type: 'secret', algorithm: { name, length: material.length * 8 }, material }
}

interface Cipher {
  encrypt(data: Uint8Array): Uint8Array
  decrypt(data: Uint8Array): Uint8Array
}

function cipherOf(algorithm: Algorithm, key: CryptoKey): Cipher {
  if (algorithm.name === 'AES-CTR') {
    const convert = (data: Uint8Array) => convertCounting(algorithm, octetsOf(key), data)
    return { encrypt: convert, decrypt: convert }
  }
  const iv = toBytes(algorithm['iv'], 'algorithm.iv')
  if (algorithm.name === 'AES-CBC') {
    if (iv.length !== 16) throw operationError('The iv of AES-CBC must have 16 bytes')
    return cbc(octetsOf(key), iv)
  }
  const { additionalData, tagLength = 128 } = algorithm
  const tagBytes = Number(tagLength) / 8
  if (![4, 8, 12, 13, 14, 15, 16].includes(tagBytes))
    throw operationError('The tag of AES-GCM must have 32, 64, 96, 104, 112, 120 or 128 bits')
  const additional = additionalData === undefined ? undefined : toBytes(additionalData, 'additionalData')
  const convert = (data: Uint8Array) => gcm(octetsOf(key), iv, additional).encrypt(data)
  return tagBytes === 16 ? gcm(octetsOf(key), iv, additional) : withShortTag(convert, tagBytes)
}

/**
 * AES-GCM with a part of its tag, which the library does not have.
 *
 * @param encrypt AES-GCM with the whole tag: as its cipher adds a key stream, it decrypts too
 */
function withShortTag(encrypt: Cipher['encrypt'], tagBytes: number): Cipher {
  const missing = 16 - tagBytes
  return {
    encrypt: (data) => encrypt(data).slice(0, -missing),
    decrypt(data) {
      if (data.length < tagBytes) throw operationError('The data is shorter than its tag')
      const plain = encrypt(data.slice(0, -tagBytes)).slice(0, -16)
      if (!areEqual(encrypt(plain).slice(0, -missing), data)) throw new Error('The tag is another one')
      return plain
    },
  }
}

const blockBytes = 16

/** AES-CTR. The counter is the last bits of a block: on overflow these restart at zero, and the other bits stay. */
function convertCounting(algorithm: Algorithm, key: Uint8Array, data: Uint8Array): Uint8Array {
  const start = toBytes(algorithm['counter'], 'algorithm.counter')
  const bits = Number(algorithm['length'])
  if (start.length !== blockBytes) throw operationError('The counter of AES-CTR must have 16 bytes')
  if (!(bits >= 1 && bits <= 128)) throw operationError('The length of the counter must be 1 to 128 bits')
  const block = BigInt(`0x${Array.from(start, (byte) => byte.toString(16).padStart(2, '0')).join('')}`)
  const size = 1n << BigInt(bits)
  const count = block % size
  if (BigInt(Math.ceil(data.length / blockBytes)) > size)
    throw operationError('The data is too long for the length of the counter')
  const untilOverflow = (size - count) * BigInt(blockBytes)
  if (BigInt(data.length) <= untilOverflow) return ctr(key, start).encrypt(data)
  const first = data.slice(0, Number(untilOverflow))
  const digits = (block - count).toString(16).padStart(2 * blockBytes, '0')
  const again = Uint8Array.from({ length: blockBytes }, (_, at) =>
    Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16),
  )
  return concatenate([ctr(key, start).encrypt(first), ctr(key, again).encrypt(data.slice(first.length))])
}
