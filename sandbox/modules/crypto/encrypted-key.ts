import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import {
  contentAt,
  readElements,
  readSequence,
  tags,
  writeElement,
  writeInteger,
  type Element,
} from '../../prelude/subtle/der.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { decipher, encipher } from './ciphers.ts'
import { hashCalled, toBytes } from './digests.ts'
import type { Pem } from './pem.ts'

/** Private keys that a passphrase encrypts: PBES2 of PKCS #5 in PKCS #8, and the older form of OpenSSL. */

type Bytes = Uint8Array<ArrayBuffer>

const oid = (...octets: number[]) => Uint8Array.of(...octets)
const ofRsaData = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d]
const pbes2 = oid(...ofRsaData, 1, 5, 13)
const pbkdf2Identifier = oid(...ofRsaData, 1, 5, 12)
const aes = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1]

/** Ciphers of encrypted keys, and the length of their keys. */
const ciphers = [
  { name: 'aes-128-cbc', oid: oid(...aes, 2), bytes: 16 },
  { name: 'aes-192-cbc', oid: oid(...aes, 22), bytes: 24 },
  { name: 'aes-256-cbc', oid: oid(...aes, 42), bytes: 32 },
  { name: 'des-ede3-cbc', oid: oid(...ofRsaData, 3, 7), bytes: 24 },
]

/** Functions of PBKDF2, whose default is the first. */
const functions = [
  { hash: 'sha1', oid: oid(...ofRsaData, 2, 7) },
  { hash: 'sha224', oid: oid(...ofRsaData, 2, 8) },
  { hash: 'sha256', oid: oid(...ofRsaData, 2, 9) },
  { hash: 'sha384', oid: oid(...ofRsaData, 2, 10) },
  { hash: 'sha512', oid: oid(...ofRsaData, 2, 11) },
]

/** Decrypts an `EncryptedPrivateKeyInfo`. */
export function decryptPkcs8(bytes: Bytes, passphrase: unknown): Bytes {
  const outer = readSequence(bytes)
  const scheme = readElements(contentAt(outer, 0, tags.sequence))
  if (!isOid(scheme[0], pbes2)) throw unsupported('Only the encryption PBES2 of private keys is supported')
  const [derivation, encryption] = readElements(contentAt(scheme, 1, tags.sequence)).map(({ content }) =>
    readElements(content),
  )
  const cipher = ciphers.find((one) => isOid(encryption![0], one.oid))
  if (cipher === undefined || !isOid(derivation![0], pbkdf2Identifier))
    throw unsupported('Only PBKDF2 with AES-CBC or DES-EDE3-CBC is supported for private keys')
  const parameters = readElements(contentAt(derivation!, 1, tags.sequence))
  const pseudorandom = parameters.find(({ tag }) => tag === tags.sequence)
  const identifier = pseudorandom && readElements(pseudorandom.content)[0]
  const hash = identifier ? functions.find((one) => isOid(identifier, one.oid))?.hash : 'sha1'
  if (hash === undefined) throw unsupported('The hash of PBKDF2 is not supported for private keys')
  const iterations = contentAt(parameters, 1, tags.integer).reduce((number, byte) => number * 256 + byte, 0)
  const key = pbkdf2(hashCalled(hash), secretOf(passphrase), contentAt(parameters, 0, tags.octetString), {
    c: iterations,
    dkLen: cipher.bytes,
  })
  const iv = contentAt(encryption!, 1, tags.octetString)
  return decipher({ name: cipher.name, key, iv }, contentAt(outer, 1, tags.octetString))
}

/** Decrypts a PEM whose fields name a cipher, as OpenSSL writes keys of PKCS #1. */
export function decryptPem({ fields, bytes }: Pem, passphrase: unknown): Bytes {
  const [name = '', digits = ''] = (fields.get('dek-info') ?? '').split(',')
  const cipher = ciphers.find((one) => one.name === name.trim().toLowerCase())
  if (cipher === undefined) throw unsupported(`The encryption '${name}' of private keys is not supported`)
  const iv = Uint8Array.from(Buffer.from(digits.trim(), 'hex'))
  return decipher(
    { name: cipher.name, key: deriveOldKey(secretOf(passphrase), iv.subarray(0, 8), cipher.bytes), iv },
    bytes,
  )
}

const sequence = (...parts: Uint8Array[]) => writeElement(tags.sequence, ...parts)
const object = (identifier: Uint8Array) => writeElement(tags.object, identifier)
const octets = (content: Uint8Array) => writeElement(tags.octetString, content)

/** Encrypts a `PrivateKeyInfo` as OpenSSL does. */
export function encryptPkcs8(bytes: Bytes, cipherName: string, passphrase: unknown): Bytes {
  const cipher = ciphers.find(({ name }) => name === cipherName.toLowerCase())
  if (cipher === undefined) throw codedError('ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher')
  const hash = functions.find((one) => one.hash === 'sha256')!
  const [salt, iv] = [16, cipher.name.startsWith('des') ? 8 : 16].map((length) =>
    crypto.getRandomValues(new Uint8Array(length)),
  ) as [Bytes, Bytes]
  const iterations = 2048
  const key = pbkdf2(hashCalled(hash.hash), secretOf(passphrase), salt, { c: iterations, dkLen: cipher.bytes })
  const pseudorandom = sequence(object(hash.oid), writeElement(tags.nothing))
  const parameters = sequence(
    octets(salt),
    writeInteger(Uint8Array.of(iterations >> 8, iterations & 255)),
    pseudorandom,
  )
  const scheme = sequence(
    object(pbes2),
    sequence(sequence(object(pbkdf2Identifier), parameters), sequence(object(cipher.oid), octets(iv))),
  )
  return sequence(scheme, octets(encipher({ name: cipher.name, key, iv }, bytes)))
}

/** The derivation of OpenSSL before PBKDF2. */
function deriveOldKey(secret: Uint8Array, salt: Uint8Array, length: number): Uint8Array {
  let key = Buffer.alloc(0)
  let last = Buffer.alloc(0)
  while (key.length < length) {
    last = Buffer.from(hashCalled('md5')(Buffer.concat([last, secret, salt])))
    key = Buffer.concat([key, last])
  }
  return key.subarray(0, length)
}

function secretOf(passphrase: unknown): Uint8Array {
  if (passphrase === undefined || passphrase === null)
    throw codedError('ERR_MISSING_PASSPHRASE', 'Passphrase required for encrypted key', TypeError)
  return toBytes(passphrase)
}

function isOid(element: Element | undefined, octets: Uint8Array): boolean {
  return (
    element?.tag === tags.object &&
    element.content.length === octets.length &&
    octets.every((octet, at) => element.content[at] === octet)
  )
}

function unsupported(message: string): Error {
  return codedError('ERR_CRYPTO_UNSUPPORTED_OPERATION', message)
}
