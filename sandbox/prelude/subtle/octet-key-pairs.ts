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

export interface OctetPair {
  publicKey: Uint8Array
  secretKey?: Uint8Array
}

interface Curve {
  getPublicKey(secretKey: Uint8Array): Uint8Array
  utils: { randomSecretKey(): Uint8Array }
}

const keyBytes = 32

/**
 * The operations of keys whose public and private part are 32 bytes each.
 *
 * @param lastOctet of the identifier of the algorithm in key files
 * @param alg the name of the algorithm in a JSON Web Key, where it has one
 */
export function octetKeyPairs(
  name: string,
  { curve, lastOctet, usages, alg }: { curve: Curve; lastOctet: number; usages: Family['usages']; alg?: string },
) {
  const identifier = Uint8Array.of(0x06, 0x03, 0x2b, 0x65, lastOctet)
  const toPublicKey = (publicKey: Uint8Array): Imported => {
    if (publicKey.length !== keyBytes) throw dataError(`A public key of ${name} must have 32 bytes`)
    return { type: 'public', algorithm: { name }, material: { publicKey } satisfies OctetPair }
  }
  const toPrivateKey = (secretKey: Uint8Array): Imported => {
    if (secretKey.length !== keyBytes) throw dataError(`A private key of ${name} must have 32 bytes`)
    const material: OctetPair = { publicKey: curve.getPublicKey(secretKey), secretKey }
    return { type: 'private', algorithm: { name }, material }
  }
  const importJwk = (jwk: JsonWebKey): Imported => {
    assertKind(jwk, 'OKP')
    if (jwk.crv !== name) throw dataError(`The JSON Web Key is not of the curve ${name}`)
    if (alg !== undefined && ![undefined, alg, 'EdDSA'].includes(jwk.alg))
      throw dataError(`The JSON Web Key is not for ${alg}`)
    const publicKey = decodeMember(jwk, 'x')
    if (jwk.d === undefined) return toPublicKey(publicKey)
    const key = toPrivateKey(decodeMember(jwk, 'd'))
    if (!areEqual((key.material as OctetPair).publicKey, publicKey))
      throw dataError('The two parts of the JSON Web Key do not belong together')
    return key
  }
  return {
    usages,
    importKey(format, data) {
      if (format === 'jwk') return importJwk(data as JsonWebKey)
      const bytes = data as Uint8Array<ArrayBuffer>
      if (format === 'raw') return toPublicKey(bytes)
      if (format === 'spki') return toPublicKey(readPublicKey(bytes, identifier))
      return toPrivateKey(contentAt(readElements(readPrivateKey(bytes, identifier)), 0, tags.octetString))
    },
    exportKey(format, key) {
      const { publicKey, secretKey } = octetPairOf(key)
      if (format === 'jwk') {
        const d = secretKey && { d: encodeBase64Url(secretKey) }
        return { kty: 'OKP', crv: name, ...(alg !== undefined && { alg }), x: encodeBase64Url(publicKey), ...d }
      }
      if ((format === 'pkcs8') !== (key.type === 'private'))
        throw invalidAccess(`A ${key.type} key cannot have the format ${format}`)
      if (format === 'raw') return publicKey
      if (format === 'spki') return writePublicKey(publicKey, identifier)
      return writePrivateKey(writeElement(tags.octetString, secretKey!), identifier)
    },
    generateKey() {
      const secretKey = curve.utils.randomSecretKey()
      return [toPublicKey(curve.getPublicKey(secretKey)), toPrivateKey(secretKey)]
    },
  } satisfies Family
}

export function octetPairOf(key: CryptoKey): OctetPair {
  return CryptoKey.materialOf(key) as OctetPair
}
