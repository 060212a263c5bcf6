import type { ECDSA } from '@noble/curves/abstract/weierstrass.js'
import { p256, p384, p521 } from '@noble/curves/nist.js'
import { concatenate } from '../blob.ts'
import { assertKind, decodeMember, encodeBase64Url } from './base64url.ts'
import {
  contentAt,
  readPrivateKey,
  readPublicKey,
  readSequence,
  tags,
  writeElement,
  writeInteger,
  writePrivateKey,
  writePublicKey,
} from './der.ts'
import {
  CryptoKey,
  dataError,
  invalidAccess,
  notSupported,
  type Algorithm,
  type Family,
  type Imported,
  type JsonWebKey,
} from './key.ts'

interface Curve {
  name: string
  operations: ECDSA
  /** Length of one coordinate. */
  bytes: number
  /** Identifier of the curve in key files. */
  identifier: Uint8Array
}

export interface EllipticMaterial {
  curve: Curve
  /** The point, with both coordinates. */
  publicKey: Uint8Array
  secretKey?: Uint8Array
}

/** The identifier of keys on elliptic curves, in key files. */
const keyIdentifier = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]

const curves: Curve[] = []

/** Adds a curve, whose object identifier is given in octets. */
export function addCurve({ oid, ...curve }: Omit<Curve, 'identifier'> & { oid: number[] }): void {
  curves.push({ ...curve, identifier: Uint8Array.of(...keyIdentifier, tags.object, oid.length, ...oid) })
}

addCurve({ name: 'P-256', operations: p256, bytes: 32, oid: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07] })
addCurve({ name: 'P-384', operations: p384, bytes: 48, oid: [0x2b, 0x81, 0x04, 0x00, 0x22] })
addCurve({ name: 'P-521', operations: p521, bytes: 66, oid: [0x2b, 0x81, 0x04, 0x00, 0x23] })

/** The operations that keys on elliptic curves have in common. */
export function ellipticKeys(name: string, usages: Family['usages']) {
  return {
    usages,
    importKey(format, data, algorithm) {
      const curve = curveOf(algorithm['namedCurve'])
      if (format === 'jwk') return importJwk(name, curve, data as JsonWebKey)
      const bytes = data as Uint8Array<ArrayBuffer>
      if (format === 'raw') return toKey(name, curve, bytes)
      if (format === 'spki') return toKey(name, curve, readPublicKey(bytes, curve.identifier))
      const secretKey = contentAt(readSequence(readPrivateKey(bytes, curve.identifier)), 1, tags.octetString)
      return toKey(name, curve, publicKeyOf(curve, secretKey), secretKey)
    },
    exportKey(format, key) {
      const material = materialOf(key)
      const { curve, publicKey } = material
      if (format === 'jwk') return exportJwk(material, key)
      if (format === 'pkcs8') return exportPrivateKey(material)
      if (key.type !== 'public') throw invalidAccess('A private key must have the format pkcs8 or jwk')
      return format === 'raw' ? publicKey : writePublicKey(publicKey, curve.identifier)
    },
    generateKey(algorithm) {
      const curve = curveOf(algorithm['namedCurve'])
      const secretKey = curve.operations.utils.randomSecretKey()
      const publicKey = publicKeyOf(curve, secretKey)
      return [toKey(name, curve, publicKey), toKey(name, curve, publicKey, secretKey)]
    },
  } satisfies Family
}

/** Finds a curve by its name in JSON Web Keys. */
export function curveOf(name: unknown): Curve {
  const curve = curves.find((one) => one.name === name)
  if (curve === undefined)
    throw notSupported(
      `The curve '${String(name)}' is not supported, only ${curves.map(({ name: one }) => one).join(', ')}`,
    )
  return curve
}

function publicKeyOf({ operations }: Curve, secretKey: Uint8Array): Uint8Array {
  try {
    return operations.getPublicKey(secretKey, false)
  } catch {
    throw dataError('The private key is invalid for its curve')
  }
}

function toKey(name: string, curve: Curve, publicKey: Uint8Array, secretKey?: Uint8Array): Imported {
  const algorithm: Algorithm = { name, namedCurve: curve.name }
  try {
    const point = curve.operations.Point.fromBytes(publicKey).toBytes(false)
    const material: EllipticMaterial = { curve, publicKey: point, ...(secretKey && { secretKey }) }
    return { type: secretKey ? 'private' : 'public', algorithm, material }
  } catch {
    throw dataError('The public key is not a point of its curve')
  }
}

function importJwk(name: string, curve: Curve, jwk: JsonWebKey): Imported {
  assertKind(jwk, 'EC')
  if (jwk.crv !== curve.name) throw dataError(`The JSON Web Key is not of the curve ${curve.name}`)
  const publicKey = concatenate([Uint8Array.of(4), decodeMember(jwk, 'x'), decodeMember(jwk, 'y')])
  return toKey(name, curve, publicKey, jwk.d === undefined ? undefined : decodeMember(jwk, 'd'))
}

function exportJwk({ curve, publicKey, secretKey }: EllipticMaterial, { type }: CryptoKey): JsonWebKey {
  const x = encodeBase64Url(publicKey.slice(1, 1 + curve.bytes))
  const y = encodeBase64Url(publicKey.slice(1 + curve.bytes))
  const d = type === 'private' ? { d: encodeBase64Url(secretKey!) } : {}
  return { kty: 'EC', crv: curve.name, x, y, ...d }
}

function exportPrivateKey({ curve, publicKey, secretKey }: EllipticMaterial): Uint8Array {
  if (secretKey === undefined) throw invalidAccess('A public key cannot have the format pkcs8')
  const optional = writeElement(0xa1, writeElement(tags.bitString, Uint8Array.of(0), publicKey))
  const version = writeInteger(Uint8Array.of(1))
  const key = writeElement(tags.sequence, version, writeElement(tags.octetString, secretKey), optional)
  return writePrivateKey(key, curve.identifier)
}

export function materialOf(key: CryptoKey): EllipticMaterial {
  return CryptoKey.materialOf(key) as EllipticMaterial
}
