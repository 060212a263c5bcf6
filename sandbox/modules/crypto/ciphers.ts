import type { Transform } from 'stream'
import { aeskw, cbc, ctr, ecb, gcm } from '@noble/ciphers/aes.js'
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { concatenate } from '../../prelude/blob.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { toBytes, toOutput, type Encoding } from './digests.ts'
import { transformLazily } from './lazy-transform.ts'

const tagBytes = 16
const blockBytes = 16

type Mode = 'cbc' | 'ctr' | 'ecb' | 'gcm' | 'wrap' | 'poly1305'

interface Algorithm {
  name: string
  mode: Mode
  keyBytes: number
  ivBytes: number
}

const ivBytes = { cbc: 16, ctr: 16, ecb: 0, gcm: 12, wrap: 8 }

const algorithms: Algorithm[] = [
  ...[16, 24, 32].flatMap((keyBytes) =>
    (['cbc', 'ctr', 'ecb', 'gcm', 'wrap'] as const).map((mode) => ({
      name: mode === 'wrap' ? `aes${keyBytes * 8}-wrap` : `aes-${keyBytes * 8}-${mode}`,
      mode,
      keyBytes,
      ivBytes: ivBytes[mode],
    })),
  ),
  { name: 'chacha20-poly1305', mode: 'poly1305', keyBytes: 32, ivBytes: 12 },
]

/** Finds a cipher by one of its names: `aes256` and `id-aes256-GCM` are others. */
function findAlgorithm(given: unknown): Algorithm | undefined {
  const name = String(given)
    .toLowerCase()
    .replace(/^id-/, '')
    .replace(/^aes(\d+)$/, 'aes-$1-cbc')
    .replace(/^aes(\d+)-(cbc|ctr|ecb|gcm)$/, 'aes-$1-$2')
  return algorithms.find((one) => one.name === name)
}

/** The initial value of AES Key Wrap, which the library has as its only one. */
const wrapIv = 0xa6

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
    const algorithm = findAlgorithm(name)
    if (algorithm === undefined) {
      const names = algorithms.map((one) => one.name).join(', ')
      throw codedError('ERR_CRYPTO_UNKNOWN_CIPHER', `Unknown cipher '${String(name)}': use one of ${names}`)
    }
    const { mode } = algorithm
    this.#mode = mode
    this.#key = toBytes(key)
    this.#iv = iv === null || iv === undefined ? new Uint8Array(0) : toBytes(iv)
    this.#isDecipher = isDecipher
    if (this.#key.length !== algorithm.keyBytes)
      throw codedError('ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length', RangeError)
    const isIvValid = mode === 'gcm' ? this.#iv.length > 0 : this.#iv.length === algorithm.ivBytes
    if (!isIvValid || (mode === 'wrap' && this.#iv.some((octet) => octet !== wrapIv)))
      throw codedError('ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector', TypeError)
  }

  update(data: unknown, inputEncoding?: Encoding, outputEncoding?: Encoding): Buffer | string {
    this.#parts.push(toBytes(data, inputEncoding).slice())
    return toOutput(new Uint8Array(0), outputEncoding)
  }

  final(encoding?: Encoding): Buffer | string {
    const data = concatenate(this.#parts.splice(0))
    const isWhole = data.length % blockBytes === 0 && (data.length > 0 || !this.#hasPadding)
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
    if (!this.#isAuthenticated) return encrypted
    this.#tag = encrypted.slice(-tagBytes)
    return encrypted.slice(0, -tagBytes)
  }

  #decrypt(data: Uint8Array): Uint8Array {
    const tag = this.#isAuthenticated ? [this.#tag ?? new Uint8Array(0)] : []
    try {
      return this.#cipher().decrypt(concatenate([data, ...tag]))
    } catch {
      if (this.#isAuthenticated) throw new Error('Unsupported state or unable to authenticate data')
      throw opensslError('1C800064', 'bad decrypt')
    }
  }

  get #isAuthenticated(): boolean {
    return this.#mode === 'gcm' || this.#mode === 'poly1305'
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
      case 'wrap':
        return aeskw(this.#key)
      case 'poly1305':
        return chacha20poly1305(this.#key, this.#iv, this.#aad)
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

interface Encryption {
  name: string
  key: Uint8Array
  iv: Uint8Array
}

export function encipher({ name, key, iv }: Encryption, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const cipher = new Cipher(name, key, iv, false)
  cipher.update(data)
  return Uint8Array.from(cipher.final() as Buffer)
}

/** @throws Error for data that are encrypted by another key */
export function decipher({ name, key, iv }: Encryption, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const cipher = new Cipher(name, key, iv, true)
  cipher.update(data)
  return Uint8Array.from(cipher.final() as Buffer)
}

/** Node's `getCipherInfo`. */
function getCipherInfo(name: unknown): object | undefined {
  const algorithm = findAlgorithm(name)
  if (algorithm === undefined) return undefined
  const { mode, keyBytes: keyLength, ivBytes: ivLength } = algorithm
  const block = mode === 'cbc' || mode === 'ecb' ? { blockSize: blockBytes } : {}
  return {
    mode: mode === 'poly1305' ? 'stream' : mode,
    name: algorithm.name,
    ...block,
    ...(ivLength > 0 && { ivLength }),
    keyLength,
  }
}

export const ciphers = {
  createCipheriv: (name: unknown, key: unknown, iv: unknown) => new Cipher(name, key, iv, false),
  createDecipheriv: (name: unknown, key: unknown, iv: unknown) => new Cipher(name, key, iv, true),
  getCiphers: () => algorithms.map(({ name }) => name),
  getCipherInfo,
}
