import type { Transform } from 'stream'
import { cbc, ctr, ecb, gcm } from '@noble/ciphers/aes.js'
import { concatenate } from '../../prelude/blob.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { toBytes, toOutput, type Encoding } from './digests.ts'
import { transformLazily } from './lazy-transform.ts'

const tagBytes = 16
const modes = ['cbc', 'ctr', 'ecb', 'gcm'] as const
const names = ['128', '192', '256'].flatMap((bits) => modes.map((mode) => `aes-${bits}-${mode}`))

type Mode = (typeof modes)[number]

/** Node's `Cipheriv` and `Decipheriv` of AES. The data is computed when it is complete. */
class Cipher {
  readonly #mode: Mode
  readonly #key: Uint8Array
  readonly #iv: Uint8Array
  readonly #isDecipher: boolean
  readonly #parts: Uint8Array[] = []
  #hasPadding = true
  #aad: Uint8Array | undefined
  #tag: Uint8Array | undefined

  constructor(name: unknown, key: unknown, iv: unknown, isDecipher: boolean) {
    const algorithm = String(name)
      .toLowerCase()
      .replace(/^id-aes(\d+)-gcm$/, 'aes-$1-gcm')
    if (!names.includes(algorithm)) {
      throw codedError('ERR_CRYPTO_UNKNOWN_CIPHER', `Unknown cipher '${String(name)}': use one of ${names.join(', ')}`)
    }
    const [, bits, mode] = algorithm.split('-')
    this.#mode = mode as Mode
    this.#key = toBytes(key)
    this.#iv = iv === null || iv === undefined ? new Uint8Array(0) : toBytes(iv)
    this.#isDecipher = isDecipher
    if (this.#key.length * 8 !== Number(bits))
      throw codedError('ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length', RangeError)
    const isIvValid = mode === 'gcm' ? this.#iv.length > 0 : this.#iv.length === (mode === 'ecb' ? 0 : 16)
    if (!isIvValid) throw codedError('ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector', TypeError)
  }

  update(data: unknown, inputEncoding?: Encoding, outputEncoding?: Encoding): Buffer | string {
    this.#parts.push(toBytes(data, inputEncoding).slice())
    return toOutput(new Uint8Array(0), outputEncoding)
  }

  final(encoding?: Encoding): Buffer | string {
    const data = concatenate(this.#parts.splice(0))
    const isWhole = data.length % 16 === 0 && (data.length > 0 || !this.#hasPadding)
    if (['cbc', 'ecb'].includes(this.#mode) && !isWhole && (this.#isDecipher || !this.#hasPadding)) {
      throw opensslError(this.#isDecipher ? '1C80006B' : '1C80006A', 'wrong final block length')
    }
    return toOutput(this.#isDecipher ? this.#decrypt(data) : this.#encrypt(data), encoding)
  }

  _transform(chunk: unknown, encoding: string, callback: () => void): void {
    this.update(chunk, encoding === 'buffer' ? undefined : (encoding as Encoding))
    callback()
  }

  _flush(callback: (error?: unknown) => void): void {
    try {
      ;(this as unknown as Transform).push(this.final())
    } catch (error) {
      return callback(error)
    }
    callback()
  }

  setAutoPadding(hasPadding = true): this {
    this.#hasPadding = hasPadding
    return this
  }

  setAAD(data: unknown): this {
    this.#aad = toBytes(data)
    return this
  }

  getAuthTag(): Buffer {
    if (this.#tag === undefined) throw codedError('ERR_CRYPTO_INVALID_STATE', 'Invalid state for operation getAuthTag')
    return Buffer.from(this.#tag)
  }

  setAuthTag(tag: unknown, encoding?: Encoding): this {
    const bytes = toBytes(tag, encoding)
    if (bytes.length !== tagBytes) {
      throw codedError('ERR_CRYPTO_INVALID_AUTH_TAG', 'The authentication tag must have 16 bytes', TypeError)
    }
    this.#tag = bytes
    return this
  }

  #encrypt(data: Uint8Array): Uint8Array {
    const encrypted = this.#cipher().encrypt(data)
    if (this.#mode !== 'gcm') return encrypted
    this.#tag = encrypted.slice(-tagBytes)
    return encrypted.slice(0, -tagBytes)
  }

  #decrypt(data: Uint8Array): Uint8Array {
    const tag = this.#mode === 'gcm' ? [this.#tag ?? new Uint8Array(0)] : []
    try {
      return this.#cipher().decrypt(concatenate([data, ...tag]))
    } catch {
      if (this.#mode === 'gcm') throw new Error('Unsupported state or unable to authenticate data')
      throw opensslError('1C800064', 'bad decrypt')
    }
  }

  #cipher() {
    const options = { disablePadding: !this.#hasPadding }
    switch (this.#mode) {
      case 'cbc':
        return cbc(this.#key, this.#iv, options)
      case 'ctr':
        return ctr(this.#key, this.#iv)
      case 'ecb':
        return ecb(this.#key, options)
      case 'gcm':
        return gcm(this.#key, this.#iv, this.#aad)
    }
  }
}

/** An error as Node makes it of one of OpenSSL. */
function opensslError(number: string, reason: string): Error {
  const library = 'Provider routines'
  const code = `ERR_OSSL_${reason.toUpperCase().replaceAll(' ', '_')}`
  return Object.assign(new Error(`error:${number}:${library}::${reason}`), { library, reason, code })
}

transformLazily(Cipher)

export const ciphers = {
  createCipheriv: (name: unknown, key: unknown, iv: unknown) => new Cipher(name, key, iv, false),
  createDecipheriv: (name: unknown, key: unknown, iv: unknown) => new Cipher(name, key, iv, true),
  getCiphers: () => [...names],
}
