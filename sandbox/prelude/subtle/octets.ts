import { assertKind, decodeMember, encodeBase64Url } from './base64url.ts'
import { CryptoKey, notSupported, type JsonWebKey } from './key.ts'

/** Keys that consist of bytes only: raw, or in a JSON Web Key. */

type Kind = 'AES' | 'HMAC'

export function importOctets(kind: Kind, format: string, data: Uint8Array | JsonWebKey): Uint8Array {
  if (format === 'raw') return data as Uint8Array
  assertJwk(kind, format)
  assertKind(data as JsonWebKey, 'oct')
  return decodeMember(data as JsonWebKey, 'k')
}

/** @param alg the name of the algorithm in a JSON Web Key */
export function exportOctets(kind: Kind, format: string, key: CryptoKey, alg: () => string): Uint8Array | JsonWebKey {
  const bytes = octetsOf(key)
  if (format === 'raw') return bytes
  assertJwk(kind, format)
  return { kty: 'oct', k: encodeBase64Url(bytes), alg: alg() }
}

export function octetsOf(key: CryptoKey): Uint8Array {
  return CryptoKey.materialOf(key) as Uint8Array
}

function assertJwk(kind: Kind, format: string): void {
  if (format !== 'jwk') throw notSupported(`Keys of ${kind} must have the format raw or jwk`)
}
