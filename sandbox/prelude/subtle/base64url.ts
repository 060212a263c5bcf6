import { decodeBase64, encodeBase64 } from '../base64.ts'
import { dataError, type JsonWebKey } from './key.ts'

/** Encodes base64url, as in JSON Web Keys. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Decodes a member of a JSON Web Key. */
export function decodeMember(jwk: JsonWebKey, name: keyof JsonWebKey): Uint8Array<ArrayBuffer> {
  const value = jwk[name]
  const isText = typeof value === 'string' && !/[+/=]/.test(value)
  const bytes = isText ? decodeBase64(value.replaceAll('-', '+').replaceAll('_', '/')) : undefined
  if (bytes === undefined) throw dataError(`The JSON Web Key has no member '${name}' in base64url`)
  return bytes
}

export function assertKind(jwk: JsonWebKey, kty: string): void {
  if (jwk.kty !== kty) throw dataError(`The JSON Web Key is not of the type '${kty}'`)
}
