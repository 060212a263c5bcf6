import { codedError, invalidType } from '../../prelude/node-errors.ts'
import { curveCalled, toCryptoKey } from './asymmetric-key.ts'
import { toBytes, toOutput, type Encoding } from './digests.ts'
import { curveOf } from './ec-families.ts'
import { readKey } from './key-object.ts'

type PointFormat = 'compressed' | 'uncompressed' | 'hybrid'
type Curve = ReturnType<typeof curveOf>

/** Node's `ECDH`, for the agreement on a secret by points of a curve. */
export class ECDH {
  readonly #curve: Curve
  #publicKey: Uint8Array | undefined
  #secretKey: Uint8Array | undefined

  constructor(name: unknown) {
    if (typeof name !== 'string') throw invalidType('curve', 'of type string', name)
    this.#curve = curveOf(curveCalled(name).name)
  }

  generateKeys(encoding?: Encoding, format?: PointFormat): Buffer | string {
    const { operations } = this.#curve
    this.#secretKey = operations.utils.randomSecretKey()
    this.#publicKey = operations.getPublicKey(this.#secretKey, false)
    return this.getPublicKey(encoding, format)
  }

  computeSecret(other: unknown, inputEncoding?: Encoding, outputEncoding?: Encoding): Buffer | string {
    const point = readPoint(this.#curve, toBytes(other, inputEncoding)).toBytes(false)
    if (this.#secretKey === undefined) throw noKey('private')
    // The secret is the first coordinate, which follows a byte that tells the sign of the second one.
    const secret = this.#curve.operations.getSharedSecret(this.#secretKey, point).slice(1)
    return toOutput(secret, outputEncoding)
  }

  getPublicKey(encoding?: Encoding, format?: PointFormat): Buffer | string {
    if (this.#publicKey === undefined) throw noKey('public')
    return toOutput(writePoint(this.#curve, this.#publicKey, format), encoding)
  }

  getPrivateKey(encoding?: Encoding): Buffer | string {
    if (this.#secretKey === undefined) throw noKey('private')
    // As in Node, without leading zeros.
    const start = this.#secretKey.findIndex((digit) => digit !== 0)
    return toOutput(this.#secretKey.slice(start), encoding)
  }

  setPublicKey(key: unknown, encoding?: Encoding): this {
    this.#publicKey = readPoint(this.#curve, toBytes(key, encoding)).toBytes(false)
    return this
  }

  setPrivateKey(key: unknown, encoding?: Encoding): this {
    const { operations, bytes } = this.#curve
    const digits = toBytes(key, encoding)
    const secretKey = Buffer.concat([Buffer.alloc(Math.max(0, bytes - digits.length)), digits])
    try {
      this.#publicKey = operations.getPublicKey(secretKey, false)
    } catch {
      throw codedError('ERR_CRYPTO_INVALID_KEYTYPE', 'Private key is not valid for specified curve.', RangeError)
    }
    this.#secretKey = secretKey
    return this
  }

  static convertKey(
    key: unknown,
    name: unknown,
    inputEncoding?: Encoding,
    outputEncoding?: Encoding,
    format?: PointFormat,
  ): Buffer | string {
    const curve = curveOf(curveCalled(name).name)
    return toOutput(writePoint(curve, toBytes(key, inputEncoding), format), outputEncoding)
  }
}

function readPoint({ operations }: Curve, bytes: Uint8Array) {
  try {
    return operations.Point.fromBytes(Uint8Array.from(bytes))
  } catch {
    throw codedError('ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY', 'Public key is not valid for specified curve')
  }
}

function writePoint(curve: Curve, bytes: Uint8Array, format: PointFormat = 'uncompressed'): Uint8Array {
  const point = readPoint(curve, bytes)
  if (format === 'compressed') return point.toBytes(true)
  const whole = point.toBytes(false)
  if (format === 'hybrid') whole[0] = 6 + (whole.at(-1)! & 1)
  else if (format !== 'uncompressed')
    throw codedError('ERR_CRYPTO_ECDH_INVALID_FORMAT', `Invalid ECDH format: ${String(format)}`, TypeError)
  return whole
}

function noKey(kind: 'public' | 'private'): Error {
  return codedError(`ERR_CRYPTO_ECDH_INVALID_${kind.toUpperCase()}_KEY`, `Failed to get ECDH ${kind} key`)
}

/** Node's `diffieHellman`: the secret of a private key and the public key of another owner. */
export function diffieHellman({ privateKey, publicKey }: { privateKey: unknown; publicKey: unknown }): Buffer {
  const [own, other] = [readKey(privateKey, 'private'), readKey(publicKey, 'public')]
  if (own.kind !== other.kind || own.curve !== other.curve || (own.kind !== 'ec' && own.kind !== 'x25519')) {
    const message = `Incompatible key types for Diffie-Hellman: ${own.kind} and ${other.kind}`
    throw codedError('ERR_CRYPTO_INCOMPATIBLE_KEY', message)
  }
  const name = own.kind === 'ec' ? 'ECDH' : 'X25519'
  const { cryptoKey, family } = toCryptoKey(own, { name })
  const { cryptoKey: otherKey } = toCryptoKey(other, { name })
  return Buffer.from(family.deriveBits!({ name, public: otherKey }, cryptoKey))
}
