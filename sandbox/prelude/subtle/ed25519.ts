import { ed25519 } from '@noble/curves/ed25519.js'
import { assertKind, decodeMember, encodeBase64Url } from './base64url.ts'
import {
  contentAt,
  readElements,
  readPrivateKey,
  readPublicKey,
  tags,
  writeElement,
  writePrivateKey,
  writePublicKey,
} from './der.ts'
import { areEqual, CryptoKey, dataError, invalidAccess, type Family, type Imported, type JsonWebKey } from './key.ts'

interface Material {
  publicKey: Uint8Array
  secretKey?: Uint8Array
}

/** Identifier of the algorithm in key files. */
const identifier = Uint8Array.of(0x06, 0x03, 0x2b, 0x65, 0x70)

export const family: Family = {
  usages: { public: ['verify'], private: ['sign'] },
  importKey(format, data) {
    if (format === 'jwk') return importJwk(data as JsonWebKey)
    const bytes = data as Uint8Array<ArrayBuffer>
    if (format === 'raw') return toPublicKey(bytes)
    if (format === 'spki') return toPublicKey(readPublicKey(bytes, identifier))
    return toPrivateKey(contentAt(readElements(readPrivateKey(bytes, identifier)), 0, tags.octetString))
  },
  exportKey(format, key) {
    const { publicKey, secretKey } = materialOf(key)
    const d = secretKey && { d: encodeBase64Url(secretKey) }
    if (format === 'jwk') return { kty: 'OKP', crv: 'Ed25519', alg: 'Ed25519', x: encodeBase64Url(publicKey), ...d }
    if ((format === 'pkcs8') !== (key.type === 'private')) {
      throw invalidAccess(`A ${key.type} key cannot have the format ${format}`)
    }
    if (format === 'raw') return publicKey
    if (format === 'spki') return writePublicKey(publicKey, identifier)
    return writePrivateKey(writeElement(tags.octetString, secretKey!), identifier)
  },
  generateKey() {
    const secretKey = ed25519.utils.randomSecretKey()
    return [toPublicKey(ed25519.getPublicKey(secretKey)), toPrivateKey(secretKey)]
  },
  sign: (_algorithm, key, data) => ed25519.sign(data, materialOf(key).secretKey!),
  verify: (_algorithm, key, signature, data) =>
    signature.length === 64 && ed25519.verify(signature, data, materialOf(key).publicKey, { zip215: false }),
}

function importJwk(jwk: JsonWebKey): Imported {
  assertKind(jwk, 'OKP')
  if (jwk.crv !== 'Ed25519') throw dataError('The JSON Web Key is not of the curve Ed25519')
  if (jwk.alg !== undefined && jwk.alg !== 'Ed25519' && jwk.alg !== 'EdDSA')
    throw dataError(`The JSON Web Key is for the algorithm '${jwk.alg}'`)
  const publicKey = decodeMember(jwk, 'x')
  if (jwk.d === undefined) return toPublicKey(publicKey)
  const imported = toPrivateKey(decodeMember(jwk, 'd'))
  if (!areEqual((imported.material as Material).publicKey, publicKey))
    throw dataError('The public and the private part of the JSON Web Key do not belong together')
  return imported
}

function toPublicKey(publicKey: Uint8Array): Imported {
  if (publicKey.length !== 32) throw dataError('A public key of Ed25519 must have 32 bytes')
  return { type: 'public', algorithm: { name: 'Ed25519' }, material: { publicKey } satisfies Material }
}

function toPrivateKey(secretKey: Uint8Array): Imported {
  if (secretKey.length !== 32) throw dataError('A private key of Ed25519 must have 32 bytes')
  const material: Material = { publicKey: ed25519.getPublicKey(secretKey), secretKey }
  return { type: 'private', algorithm: { name: 'Ed25519' }, material }
}

function materialOf(key: CryptoKey): Material {
  return CryptoKey.materialOf(key) as Material
}
