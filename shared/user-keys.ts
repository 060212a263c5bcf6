import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { ApiError } from './errors.ts'

/**
 * A chat user's key is a JSON Web Token, HS256, whose payload has `id`: what the client knows the user by. Whoever holds
 * the installation's encryption key may sign one.
 */
const algorithm = 'HS256'

/** Signs a key for a user. It does not expire: the client keeps it as long as it wants to be that user. */
export async function signUserKey(encryptionKey: string, id: string): Promise<string> {
  return new SignJWT({ id })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .setIssuedAt()
    .sign(toBytes(encryptionKey))
}

/** Ids by encryption key and user key, of keys that never expire: a client sends the same one with every request. */
const verifiedIds = new LRUCache<string, string>({ max: 10_000 })

/**
 * Verifies a key; `exp` and `nbf` are honoured.
 *
 * @returns the id in it
 * @throws ApiError `Unauthorized`
 */
export async function verifyUserKey(encryptionKey: string, key: string): Promise<string> {
  const both = `${encryptionKey} ${key}`
  const verified = verifiedIds.get(both)
  if (verified) return verified
  try {
    const { payload } = await jwtVerify(key, toBytes(encryptionKey), { algorithms: [algorithm] })
    const { id, exp } = payload
    if (typeof id === 'string' && id !== '') {
      if (exp === undefined) verifiedIds.set(both, id)
      return id
    }
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
  }
  throw new ApiError(
    'Unauthorized',
    'The x-user-key is not valid here: create a user, or sign { id } with this bot’s key',
  )
}

function toBytes(encryptionKey: string): Uint8Array {
  return new TextEncoder().encode(encryptionKey)
}
