import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { compactDecrypt, CompactEncrypt, errors } from 'jose'

/** The secret of a platform, and a second one during its rotation. */
export interface PlatformSecret {
  /** Encrypts and signs. */
  current: string
  /** A second secret that is accepted: values that it has encrypted or signed are valid too. */
  accepted?: string
}

/** All secrets by which a value is valid, the current one first. */
export function validSecrets({ current, accepted }: PlatformSecret): string[] {
  return accepted === undefined ? [current] : [current, accepted]
}

/**
 * Whether a signature is that of one of the valid secrets, in constant time.
 *
 * @param sign computes the signature by one secret
 */
export function isSignature(secret: PlatformSecret, given: string, sign: (secret: string) => string): boolean {
  const bytes = Buffer.from(given)
  return validSecrets(secret).some((each) => {
    const expected = Buffer.from(sign(each))
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}

/** The stored form of a token, which verifies the token but cannot be used as one. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * The key that signs a chat installation's user keys. The holder may sign keys for that installation and no other. The
 * key is derived, so it is not stored and is equal in every process.
 *
 * @param secret the platform's own secret
 */
export function sharedEncryptionKey(secret: string, installationId: string): string {
  return derive(secret, `shared encryption key of ${installationId}`).toString('base64url')
}

/**
 * The part of a chat user's key that proves that the platform made it for that user. A holder of the shared encryption
 * key can sign keys but cannot compute this.
 *
 * @param secret the platform's own secret
 */
export function userBinding(secret: string, installationId: string, userId: string): string {
  return derive(secret, `binding of a key to ${userId} of ${installationId}`).toString('base64url')
}

/**
 * The signature of an address of a file, in base64url. Only the platform can compute it.
 *
 * @param secret the platform's own secret
 * @param address all that the address says: purpose, file, generation and expiry
 */
export function signFileAddress(secret: string, address: string): string {
  return createHmac('sha256', derive(secret, 'addresses of files')).update(address).digest('base64url')
}

/**
 * The signature of a reading and of what it searches for, in base64url. Only the platform can compute it.
 *
 * @param secret the platform's own secret
 * @param searched the id of the reading's record, and the values of the filters
 */
export function signReading(secret: string, searched: string): string {
  return createHmac('sha256', derive(secret, 'readings')).update(searched).digest('base64url')
}

/**
 * The signature of the claims in a key of tunnels, in base64url. Only the platform can compute it.
 *
 * @param secret the platform's own secret
 */
export function signTunnelKey(secret: string, claims: string): string {
  return createHmac('sha256', derive(secret, 'keys of tunnels')).update(claims).digest('base64url')
}

const algorithms = { alg: 'dir', enc: 'A256GCM' } as const

/**
 * Encrypts a value that is secret at rest.
 *
 * @param secret the platform's own secret
 * @param ownerId the id of the row that stores the value: the value does not decrypt in another row
 * @returns a compact JSON Web Encryption
 */
export async function encryptJson({ current }: PlatformSecret, ownerId: string, value: object): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(value)))
    .setProtectedHeader(algorithms)
    .encrypt(keyAtRest(current, ownerId))
}

/**
 * Decrypts a value of `encryptJson`.
 * @throws Error when it was encrypted with another secret or for another row
 */
export async function decryptJson(secret: PlatformSecret, ownerId: string, encrypted: string): Promise<unknown> {
  let cause: unknown
  for (const each of validSecrets(secret)) {
    try {
      const { plaintext } = await compactDecrypt(encrypted, keyAtRest(each, ownerId), {
        keyManagementAlgorithms: [algorithms.alg],
        contentEncryptionAlgorithms: [algorithms.enc],
      })
      return JSON.parse(new TextDecoder().decode(plaintext))
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      cause ??= error
    }
  }
  throw new Error(
    `The configuration of ${ownerId} cannot be decrypted with this ISOBOT_SECRET: ` +
      'restore the former secret, set ISOBOT_SECRET_ACCEPTED to it, or configure it again',
    { cause },
  )
}

function keyAtRest(secret: string, ownerId: string): Buffer {
  return derive(secret, `encryption at rest of ${ownerId}`)
}

/** 256 bits that reveal nothing about the secret or about keys for other purposes. */
function derive(secret: string, purpose: string): Buffer {
  return createHmac('sha256', secret).update(purpose).digest()
}

/**
 * The key that signs what a browser gets when a person begins to authorize an installation in it.
 *
 * @param secret the platform's own secret
 */
export function authorizationKey(secret: string): Uint8Array {
  return derive(secret, 'authorizations of installations')
}

/**
 * The key that signs the tokens of sessions.
 *
 * @param secret the platform's own secret
 */
export function sessionKey(secret: string): Uint8Array {
  return derive(secret, 'tokens of sessions')
}
