import { ghash } from '@noble/ciphers/_polyval.js'
import { poly1305 } from '@noble/ciphers/_poly1305.js'
import { aeskw, cbc, ctr, ecb } from '@noble/ciphers/aes.js'
import { chacha20 } from '@noble/ciphers/chacha.js'
import { concatenate } from '../../prelude/blob.ts'

/**
 * Modes of ciphers whose output is made as the input comes: programs use the output of `update` and leave that of `final`, which is
 * empty for most modes. The libraries convert only whole messages, so the modes are put together from their parts.
 */

type Bytes = Uint8Array

/** The conversion of a message. */
export interface Conversion {
  update(data: Bytes): Bytes
  /** @throws WrongLength or WrongData */
  finish(): Bytes
  /** Of modes that authenticate: the code over all data, after `finish`. */
  tag?(): Bytes
}

/** Blocks are missing, or left. */
export class WrongLength extends Error {}

/** The padding is wrong. */
export class WrongData extends Error {}

/** A cipher that converts whole blocks without padding, and keeps what it needs for the next ones. */
export interface Blocks {
  bytes: number
  convert(blocks: Bytes): Bytes
}

const aesBytes = 16

export function aesEcb(key: Bytes, isDecipher: boolean): Blocks {
  return {
    bytes: aesBytes,
    convert(blocks) {
      const cipher = ecb(key, { disablePadding: true })
      return isDecipher ? cipher.decrypt(blocks) : cipher.encrypt(blocks)
    },
  }
}

export function aesCbc(key: Bytes, iv: Bytes, isDecipher: boolean): Blocks {
  let chained = iv.slice()
  return {
    bytes: aesBytes,
    convert(blocks) {
      const cipher = cbc(key, chained, { disablePadding: true })
      const converted = isDecipher ? cipher.decrypt(blocks) : cipher.encrypt(blocks)
      chained = (isDecipher ? blocks : converted).slice(-aesBytes)
      return converted
    },
  }
}

/** Converts blocks, the last of which has padding unless that is turned off. */
export class BlockConversion implements Conversion {
  readonly #blocks: Blocks
  readonly #isDecipher: boolean
  readonly #hasPadding: boolean
  #rest: Bytes = new Uint8Array(0)

  constructor(blocks: Blocks, { isDecipher, hasPadding }: { isDecipher: boolean; hasPadding: boolean }) {
    this.#blocks = blocks
    this.#isDecipher = isDecipher
    this.#hasPadding = hasPadding
  }

  update(data: Bytes): Bytes {
    const { bytes } = this.#blocks
    const all = concatenate([this.#rest, data])
    // The last block may be the one with the padding.
    const kept =
      this.#isDecipher && this.#hasPadding && all.length > 0 ? ((all.length - 1) % bytes) + 1 : all.length % bytes
    this.#rest = all.slice(all.length - kept)
    return kept === all.length ? new Uint8Array(0) : this.#blocks.convert(all.subarray(0, all.length - kept))
  }

  finish(): Bytes {
    const { bytes, convert } = this.#blocks
    const rest = this.#rest
    if (!this.#hasPadding) {
      if (rest.length > 0) throw new WrongLength()
      return rest
    }
    if (!this.#isDecipher) {
      const missing = bytes - rest.length
      return convert(concatenate([rest, new Uint8Array(missing).fill(missing)]))
    }
    if (rest.length !== bytes) throw new WrongLength()
    const last = convert(rest)
    const padding = last.at(-1)!
    if (padding < 1 || padding > bytes || last.subarray(-padding).some((octet) => octet !== padding))
      throw new WrongData()
    return last.subarray(0, -padding)
  }
}

/** A cipher that adds a stream of octets: encryption and decryption are the same. */
class StreamConversion implements Conversion {
  readonly #bytes: number
  readonly #convert: (data: Bytes, block: number) => Bytes
  #position = 0

  /** @param convert converts data that begin at a block of the stream */
  constructor(bytes: number, convert: (data: Bytes, block: number) => Bytes) {
    this.#bytes = bytes
    this.#convert = convert
  }

  update(data: Bytes): Bytes {
    const inBlock = this.#position % this.#bytes
    const block = (this.#position - inBlock) / this.#bytes
    this.#position += data.length
    if (data.length === 0) return data
    return this.#convert(concatenate([new Uint8Array(inBlock), data]), block).subarray(inBlock)
  }

  finish(): Bytes {
    return new Uint8Array(0)
  }
}

export function aesCtr(key: Bytes, iv: Bytes): Conversion {
  return new StreamConversion(aesBytes, (data, block) => ctr(key, advance(iv, block, 128n)).encrypt(data))
}

/** The counter of a later block, of which the last bits count. */
function advance(counter: Bytes, blocks: number, bits: bigint): Bytes {
  const number = BigInt(`0x${Buffer.from(counter).toString('hex')}`)
  const size = 1n << bits
  const sum = number - (number % size) + (((number % size) + BigInt(blocks)) % size)
  return Uint8Array.from(Buffer.from(sum.toString(16).padStart(2 * counter.length, '0'), 'hex'))
}

/** A stream that is authenticated: the code covers further data, the encrypted data and both lengths. */
class AuthenticatedConversion implements Conversion {
  readonly #stream: StreamConversion
  readonly #isDecipher: boolean
  readonly #authenticate: (data: Bytes) => void
  readonly #end: () => Bytes
  readonly #writeLengths: (aad: number, data: number) => Bytes
  readonly #aad: Bytes
  /** Encrypted data that are no whole block yet. */
  #rest: Bytes = new Uint8Array(0)
  #length = 0

  constructor(options: {
    stream: StreamConversion
    isDecipher: boolean
    aad: Bytes
    /** Given whole blocks alone. */
    authenticate: (data: Bytes) => void
    end: () => Bytes
    writeLengths: (aad: number, data: number) => Bytes
  }) {
    this.#stream = options.stream
    this.#isDecipher = options.isDecipher
    this.#authenticate = options.authenticate
    this.#end = options.end
    this.#writeLengths = options.writeLengths
    this.#aad = options.aad
    this.#authenticate(padded(options.aad))
  }

  update(data: Bytes): Bytes {
    const converted = this.#stream.update(data)
    const encrypted = concatenate([this.#rest, this.#isDecipher ? data : converted])
    const whole = encrypted.length - (encrypted.length % aesBytes)
    this.#authenticate(encrypted.subarray(0, whole))
    this.#rest = encrypted.slice(whole)
    this.#length += data.length
    return converted
  }

  finish(): Bytes {
    this.#authenticate(padded(this.#rest))
    this.#authenticate(this.#writeLengths(this.#aad.length, this.#length))
    return new Uint8Array(0)
  }

  tag(): Bytes {
    return this.#end()
  }
}

function padded(data: Bytes): Bytes {
  return concatenate([data, new Uint8Array((aesBytes - (data.length % aesBytes)) % aesBytes)])
}

interface Authenticated {
  key: Bytes
  iv: Bytes
  aad: Bytes
  isDecipher: boolean
}

/** AES-GCM, as NIST SP 800-38D puts it together from counters and GHASH. */
export function aesGcm({ key, iv, aad, isDecipher }: Authenticated): Conversion {
  const encryptBlock = (block: Bytes) => ecb(key, { disablePadding: true }).encrypt(block)
  const hashKey = encryptBlock(new Uint8Array(aesBytes))
  const first =
    iv.length === 12
      ? concatenate([iv, Uint8Array.of(0, 0, 0, 1)])
      : ghash.create(hashKey).update(padded(iv)).update(bitLengths(0, iv.length)).digest()
  const hash = ghash.create(hashKey)
  return new AuthenticatedConversion({
    stream: new StreamConversion(aesBytes, (data, block) => convertCounting(key, advance(first, block + 1, 32n), data)),
    isDecipher,
    aad,
    authenticate: (data) => data.length > 0 && hash.update(data),
    end() {
      const mask = encryptBlock(first)
      return hash.digest().map((octet, at) => octet ^ mask[at]!)
    },
    writeLengths: bitLengths,
  })
}

/** Adds the stream of a counter of 32 bits; that of the library carries into the other bits. */
function convertCounting(key: Bytes, counter: Bytes, data: Bytes): Bytes {
  const untilOverflow = (2 ** 32 - Buffer.from(counter).readUInt32BE(12)) * aesBytes
  if (data.length <= untilOverflow) return ctr(key, counter).encrypt(data)
  const again = advance(counter, untilOverflow / aesBytes, 32n)
  return concatenate([
    ctr(key, counter).encrypt(data.slice(0, untilOverflow)),
    ctr(key, again).encrypt(data.slice(untilOverflow)),
  ])
}

/** Two lengths as GHASH has them, in bits. */
function bitLengths(aad: number, data: number): Bytes {
  const lengths = Buffer.alloc(16)
  lengths.writeBigUInt64BE(BigInt(aad) * 8n)
  lengths.writeBigUInt64BE(BigInt(data) * 8n, 8)
  return Uint8Array.from(lengths)
}

/** ChaCha20-Poly1305, as RFC 8439 puts it together. */
export function chachaPoly({ key, iv, aad, isDecipher }: Authenticated): Conversion {
  const blockBytes = 64
  const code = poly1305.create(chacha20(key, iv, new Uint8Array(32)))
  return new AuthenticatedConversion({
    stream: new StreamConversion(blockBytes, (data, block) => chacha20(key, iv, data, undefined, block + 1)),
    isDecipher,
    aad,
    authenticate: (data) => code.update(data),
    end: () => code.digest(),
    writeLengths(aadLength, dataLength) {
      const lengths = Buffer.alloc(16)
      lengths.writeBigUInt64LE(BigInt(aadLength))
      lengths.writeBigUInt64LE(BigInt(dataLength), 8)
      return Uint8Array.from(lengths)
    },
  })
}

/** AES Key Wrap, which converts a key at once. */
export function aesWrap(key: Bytes, isDecipher: boolean): Conversion {
  return {
    update: (data) => (isDecipher ? aeskw(key).decrypt(data) : aeskw(key).encrypt(data)),
    finish: () => new Uint8Array(0),
  }
}
