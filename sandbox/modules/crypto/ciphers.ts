import type { Transform } from 'stream'
import { concatenate } from '../../prelude/blob.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { areEqual } from '../../prelude/subtle/key.ts'
import {
  aesCbc,
  aesCtr,
  aesEcb,
  aesGcm,
  aesWrap,
  BlockConversion,
  chachaPoly,
  WrongLength,
  type Blocks,
  type Conversion,
} from './cipher-modes.ts'
import { toBytes, toOutput, type Encoding } from './digests.ts'
import { transformLazily } from './lazy-transform.ts'
import { opensslError } from './openssl-error.ts'

const tagBytes = 16

type Mode = 'cbc' | 'ctr' | 'ecb' | 'gcm' | 'wrap' | 'poly1305' | 'des-cbc' | 'des-ecb'

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
  { name: 'des-ede3-cbc', mode: 'des-cbc', keyBytes: 24, ivBytes: 8 },
  { name: 'des-ede3', mode: 'des-ecb', keyBytes: 24, ivBytes: 0 },
]

/** Finds a cipher by one of its names: `aes256` and `id-aes256-GCM` are others. */
function findAlgorithm(given: unknown): Algorithm | undefined {
  const name = String(given)
    .toLowerCase()
    .replace(/^id-/, '')
    .replace(/^aes(\d+)$/, 'aes-$1-cbc')
    .replace(/^des3$/, 'des-ede3-cbc')
    .replace(/^des-ede3-ecb$/, 'des-ede3')
    .replace(/^aes(\d+)-(cbc|ctr|ecb|gcm)$/, 'aes-$1-$2')
  return algorithms.find((one) => one.name === name)
}

/** The initial value of AES Key Wrap, which the library has as its only one. */
const wrapIv = 0xa6

// oxlint-disable-next-line typescript/no-require-imports -- An import would evaluate it for all other ciphers too.
const tripleDes = () => (require('./des.ts') as typeof import('./des.ts')).tripleDes

interface CipherOptions {
  authTagLength?: number
}

/** Node's `Cipheriv` and `Decipheriv`. */
class Cipher {
  readonly #algorithm: Algorithm
  readonly #key: Uint8Array
  readonly #iv: Uint8Array
  readonly #isDecipher: boolean
  readonly #tagBytes: number
  #hasPadding = true
  #aad: Uint8Array = new Uint8Array(0)
  #tag: Uint8Array | undefined
  #conversion: Conversion | undefined
  #isFinal = false
  #text: TextOutput | undefined

  constructor(name: unknown, key: unknown, iv: unknown, isDecipher: boolean, options: CipherOptions = {}) {
    const algorithm = findAlgorithm(name)
    if (algorithm === undefined) {
      const names = algorithms.map((one) => one.name).join(', ')
      throw codedError('ERR_CRYPTO_UNKNOWN_CIPHER', `Unknown cipher '${String(name)}': use one of ${names}`)
    }
    const { mode } = algorithm
    this.#algorithm = algorithm
    this.#key = toBytes(key).slice()
    this.#iv = iv === null || iv === undefined ? new Uint8Array(0) : toBytes(iv).slice()
    this.#isDecipher = isDecipher
    this.#tagBytes = options.authTagLength ?? tagBytes
    if (this.#key.length !== algorithm.keyBytes)
      throw codedError('ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length', RangeError)
    const isIvValid = mode === 'gcm' ? this.#iv.length > 0 : this.#iv.length === algorithm.ivBytes
    if (!isIvValid || (mode === 'wrap' && this.#iv.some((octet) => octet !== wrapIv)))
      throw codedError('ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector', TypeError)
    if (this.#isAuthenticated && !tagLengths.includes(this.#tagBytes)) throw invalidTag(this.#tagBytes)
  }

  update(data: unknown, inputEncoding?: Encoding, outputEncoding?: Encoding): Buffer | string {
    if (this.#isFinal) throw invalidState('update')
    this.#conversion ??= this.#begin()
    return this.#output(this.#convert(this.#conversion, toBytes(data, inputEncoding).slice()), outputEncoding, false)
  }

  final(encoding?: Encoding): Buffer | string {
    if (this.#isFinal) throw invalidState('final')
    this.#isFinal = true
    const conversion = (this.#conversion ??= this.#begin())
    const last = this.#convert(conversion)
    const tag = conversion.tag?.().subarray(0, this.#tagBytes)
    if (!this.#isDecipher) this.#tag = tag
    else if (tag !== undefined && (this.#tag === undefined || !areEqual(tag, this.#tag)))
      throw new Error('Unsupported state or unable to authenticate data')
    return this.#output(last, encoding, true)
  }

  _transform(chunk: unknown, encoding: string, callback: (error?: unknown) => void): void {
    this.#push(() => this.update(chunk, encoding === 'buffer' ? undefined : (encoding as Encoding)), callback)
  }

  _flush(callback: (error?: unknown) => void): void {
    this.#push(() => this.final(), callback)
  }

  setAutoPadding(hasPadding = true): this {
    if (this.#conversion !== undefined) throw invalidState('setAutoPadding')
    this.#hasPadding = hasPadding
    return this
  }

  setAAD(data: unknown): this {
    if (this.#conversion !== undefined) throw invalidState('setAAD')
    this.#aad = concatenate([this.#aad, toBytes(data)])
    return this
  }

  getAuthTag(): Buffer {
    if (this.#tag === undefined || this.#isDecipher) throw invalidState('getAuthTag')
    return Buffer.from(this.#tag)
  }

  setAuthTag(tag: unknown, encoding?: Encoding): this {
    const bytes = toBytes(tag, encoding)
    if (!this.#isDecipher || this.#isFinal) throw invalidState('setAuthTag')
    if (bytes.length !== this.#tagBytes) throw invalidTag(bytes.length)
    this.#tag = bytes.slice()
    return this
  }

  get #isAuthenticated(): boolean {
    return this.#algorithm.mode === 'gcm' || this.#algorithm.mode === 'poly1305'
  }

  #begin(): Conversion {
    const [key, iv, aad, isDecipher] = [this.#key, this.#iv, this.#aad, this.#isDecipher]
    switch (this.#algorithm.mode) {
      case 'cbc':
        return this.#inBlocks(aesCbc(key, iv, isDecipher))
      case 'ecb':
        return this.#inBlocks(aesEcb(key, isDecipher))
      case 'des-cbc':
        return this.#inBlocks(tripleDes()(key, iv, isDecipher))
      case 'des-ecb':
        return this.#inBlocks(tripleDes()(key, undefined, isDecipher))
      case 'ctr':
        return aesCtr(key, iv)
      case 'gcm':
        return aesGcm({ key, iv, aad, isDecipher })
      case 'wrap':
        return aesWrap(key, isDecipher)
      case 'poly1305':
        return chachaPoly({ key, iv, aad, isDecipher })
    }
  }

  #inBlocks(blocks: Blocks): Conversion {
    return new BlockConversion(blocks, { isDecipher: this.#isDecipher, hasPadding: this.#hasPadding })
  }

  /** @param data absent at the end */
  #convert(conversion: Conversion, data?: Uint8Array): Uint8Array {
    try {
      return data === undefined ? conversion.finish() : conversion.update(data)
    } catch (error) {
      if (!(error instanceof WrongLength)) throw providerError('1C800064', 'bad decrypt')
      throw providerError('1C80006B', 'wrong final block length')
    }
  }

  /** Texts of several parts are those of the whole: a part may end within a character, or a group of base64. */
  #output(bytes: Uint8Array, encoding: Encoding | undefined, isLast: boolean): Buffer | string {
    if (!encoding || (encoding as string) === 'buffer') return toOutput(bytes)
    this.#text ??= new TextOutput(encoding)
    return this.#text.write(bytes, isLast)
  }

  #push(work: () => Buffer | string, callback: (error?: unknown) => void): void {
    try {
      const output = work()
      if (output.length > 0) (this as unknown as Transform).push(output)
    } catch (error) {
      return callback(error)
    }
    callback()
  }
}

/** The texts of parts of bytes. */
class TextOutput {
  readonly #encoding: Encoding
  readonly #decoder: InstanceType<typeof TextDecoder> | undefined
  #rest: Uint8Array = new Uint8Array(0)

  constructor(encoding: Encoding) {
    this.#encoding = encoding
    const name = /^utf-?8$/i.test(encoding)
      ? 'utf-8'
      : /^(?:utf-?16le|ucs-?2)$/i.test(encoding)
        ? 'utf-16le'
        : undefined
    this.#decoder = name === undefined ? undefined : new TextDecoder(name, { ignoreBOM: true })
  }

  write(bytes: Uint8Array, isLast: boolean): string {
    if (this.#decoder) return this.#decoder.decode(bytes, { stream: !isLast })
    const all = concatenate([this.#rest, bytes])
    const kept = isLast || !this.#encoding.startsWith('base64') ? 0 : all.length % 3
    this.#rest = all.slice(all.length - kept)
    return toOutput(all.subarray(0, all.length - kept), this.#encoding) as string
  }
}

const tagLengths = [4, 8, 12, 13, 14, 15, 16]

function invalidTag(length: number): Error {
  return codedError('ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${length}`, TypeError)
}

function invalidState(operation: string): Error {
  return codedError('ERR_CRYPTO_INVALID_STATE', `Invalid state for operation ${operation}`)
}

const providerError = (number: string, reason: string) => opensslError({ number, library: 'Provider routines', reason })

transformLazily(Cipher)

interface Encryption {
  name: string
  key: Uint8Array
  iv: Uint8Array
}

export function encipher(encryption: Encryption, data: Uint8Array): Uint8Array<ArrayBuffer> {
  return convertAll(encryption, data, false)
}

/** @throws Error for data that are encrypted by another key */
export function decipher(encryption: Encryption, data: Uint8Array): Uint8Array<ArrayBuffer> {
  return convertAll(encryption, data, true)
}

function convertAll({ name, key, iv }: Encryption, data: Uint8Array, isDecipher: boolean): Uint8Array<ArrayBuffer> {
  const cipher = new Cipher(name, key, iv, isDecipher)
  return concatenate([cipher.update(data) as Buffer, cipher.final() as Buffer])
}

/** Node's `getCipherInfo`. */
function getCipherInfo(name: unknown): object | undefined {
  const algorithm = findAlgorithm(name)
  if (algorithm === undefined) return undefined
  const { mode, keyBytes: keyLength, ivBytes: ivLength } = algorithm
  const plainMode = mode === 'poly1305' ? 'stream' : mode.replace('des-', '')
  const isInBlocks = plainMode === 'cbc' || plainMode === 'ecb'
  const blockSize = mode.startsWith('des') ? 8 : 16
  return {
    mode: plainMode,
    name: algorithm.name,
    ...(isInBlocks && { blockSize }),
    ...(ivLength > 0 && { ivLength }),
    keyLength,
  }
}

export const ciphers = {
  createCipheriv: (name: unknown, key: unknown, iv: unknown, options?: CipherOptions) =>
    new Cipher(name, key, iv, false, options),
  createDecipheriv: (name: unknown, key: unknown, iv: unknown, options?: CipherOptions) =>
    new Cipher(name, key, iv, true, options),
  getCiphers: () => algorithms.map(({ name }) => name),
  getCipherInfo,
}
