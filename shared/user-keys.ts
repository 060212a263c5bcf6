import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { ApiError } from './errors.ts'
import { chatConfigurationOf } from './models/chat-configuration.ts'
import { sharedEncryptionKey } from './secrets.ts'
import type { Installation } from './store/installations.ts'

/**
 * A chat user's key is a JSON Web Token, HS256, whose payload has `id`: what the client knows the user by. Whoever holds
 * the installation's encryption key may sign one.
 */
const algorithm = 'HS256'

/** Installations are remembered for some seconds (`installations.ts`), and so are their keys: nearly every request asks. */
const encryptionKeys = new WeakMap<Installation, { secret: string; key: string }>()

/**
 * The key that an installation's user keys are signed with: the configured one, else the one that is derived for it.
 *
 * @param secret the platform's own secret
 */
export function encryptionKeyOf(installation: Installation, secret: string): string {
  const known = encryptionKeys.get(installation)
  if (known?.secret === secret) return known.key
  const key = chatConfigurationOf(installation).encryptionKey ?? sharedEncryptionKey(secret, installation.id)
  encryptionKeys.set(installation, { secret, key })
  return key
}

/** Signs a key for a user. It does not expire: the client keeps it as long as it wants to be that user. */
export async function signUserKey(encryptionKey: string, id: string): Promise<string> {
  return new SignJWT({ id })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .setIssuedAt()
    .sign(toBytes(encryptionKey))
}

/** Keys that never expire and what was found in them: a client sends the same one with every request. */
const verifiedKeys = new LRUCache<string, { encryptionKey: string; id: string }>({ max: 10_000 })
/** Ours are about 150 characters long. Who signs keys may put much more into them, and that is not remembered. */
const longestRemembered = 1000

/**
 * Verifies a key; `exp` and `nbf` are honoured.
 *
 * @returns the id in it
 * @throws ApiError `Unauthorized`
 */
export async function verifyUserKey(encryptionKey: string, key: string): Promise<string> {
  const verified = verifiedKeys.get(key)
  if (verified?.encryptionKey === encryptionKey) return verified.id
  try {
    const { payload } = await jwtVerify(key, toBytes(encryptionKey), { algorithms: [algorithm] })
    const { id, exp } = payload
    if (typeof id === 'string' && id !== '') {
      if (exp === undefined && key.length <= longestRemembered) verifiedKeys.set(key, { encryptionKey, id })
      return id
    }
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
  }
  throw new ApiError(
    'Unauthorized',
    'The x-user-key is not valid here: send the one from createUser, or sign { id } with the chat’s encryption key',
  )
}

function toBytes(encryptionKey: string): Uint8Array {
  return new TextEncoder().encode(encryptionKey)
}
