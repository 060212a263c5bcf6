import { mgf1, OAEP, PKCS1_KEM } from 'micro-rsa-dsa-dh/rsa.js'
import { codedError } from '../../prelude/node-errors.ts'
import { publicOf, secretOf } from '../../prelude/subtle/rsa-keys.ts'
import { toCryptoKey, type AsymmetricKey } from './asymmetric-key.ts'
import { hashCalled, toBytes, type Encoding } from './digests.ts'
import { readKey, type KeyInput } from './key-object.ts'
import { opensslError } from './openssl-error.ts'

interface EncryptionOptions {
  padding?: number
  oaepHash?: string
  oaepLabel?: unknown
  encoding?: Encoding
}

/** `RSA_PKCS1_PADDING` and `RSA_PKCS1_OAEP_PADDING` of `crypto.constants`. */
const pkcs1 = 1
const oaep = 4

export function publicEncrypt(input: KeyInput, data: unknown): Buffer {
  const options = optionsOf(input)
  const key = publicOf(cryptoKeyOf(readKey(input, 'public')))
  const bytes = Uint8Array.from(toBytes(data, options.encoding))
  const scheme = options.padding === pkcs1 ? PKCS1_KEM : oaepOf(options)
  try {
    return Buffer.from(scheme.encrypt(key, bytes))
  } catch {
    throw rsaError('0200006E', 'data too large for key size')
  }
}

export function privateDecrypt(input: KeyInput, data: unknown): Buffer {
  const options = optionsOf(input)
  const key = secretOf(cryptoKeyOf(readKey(input, 'private')))
  const bytes = Uint8Array.from(toBytes(data, options.encoding))
  // With the padding of PKCS #1, a sender learns the plain text of others from whether the decryption fails.
  if (options.padding === pkcs1) throw unsupportedPadding('Decryption with RSA has RSA_PKCS1_OAEP_PADDING')
  try {
    return Buffer.from(oaepOf(options).decrypt(key, bytes))
  } catch {
    throw rsaError('02000079', 'oaep decoding error')
  }
}

function oaepOf({ padding = oaep, oaepHash = 'sha1', oaepLabel }: EncryptionOptions) {
  if (padding !== oaep) throw unsupportedPadding('Encryption with RSA has RSA_PKCS1_OAEP_PADDING or RSA_PKCS1_PADDING')
  const hash = hashCalled(oaepHash)
  return OAEP(hash, mgf1(hash), oaepLabel === undefined ? undefined : toBytes(oaepLabel))
}

function cryptoKeyOf(key: AsymmetricKey) {
  if (key.kind !== 'rsa')
    throw codedError('ERR_OSSL_EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE', 'The key is not one of RSA')
  return toCryptoKey(key).cryptoKey
}

function optionsOf(input: KeyInput): EncryptionOptions {
  return typeof input === 'object' && input !== null ? input : {}
}

function unsupportedPadding(message: string): Error {
  return codedError('ERR_METHOD_NOT_IMPLEMENTED', message)
}

const rsaError = (number: string, reason: string) =>
  opensslError({ number, library: 'rsa routines', reason, prefix: 'RSA_' })
