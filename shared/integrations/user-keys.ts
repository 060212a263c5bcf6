import { createHash, timingSafeEqual } from 'node:crypto'
import { errors, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { chatConfigurationOf } from '../models/chat-configuration.ts'
import type { UserKey } from '../models/user-key.ts'
import { sharedEncryptionKey, userBinding } from '../secrets.ts'
import type { Installation } from '../models/tables.ts'

/**
 * A chat user's key is a JSON Web Token, HS256, whose payload has `id`: what the client knows the user by. Whoever holds
 * the installation's encryption key may sign one, which is good for whoever has that id.
 *
 * A key that the platform makes names the user's row as well (`bindingClaim`), with a proof that only the platform can
 * make. It is good for that user alone: not for whoever has the id next (docs/decisions/0033).
 */
const algorithm = 'HS256'
const bindingClaim = 'isobot_user'

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

/**
 * Signs a key for a user. It does not expire: the client keeps it as long as it wants to be that user.
 *
 * @param id what the client knows the user by
 * @param binding to the one user that the key is good for (`bindingTo`)
 */
export async function signUserKey(encryptionKey: string, id: string, binding?: string): Promise<string> {
  return new SignJWT({ id, ...(binding !== undefined && { [bindingClaim]: binding }) })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .setIssuedAt()
    .sign(toBytes(encryptionKey))
}

/**
 * Names a user's row, with a proof that the platform does so.
 *
 * @param secret the platform's own secret
 */
export function bindingTo(installation: Installation, secret: string, userId: string): string {
  return `${userId}.${userBinding(secret, installation.id, userId)}`
}

/** What tells, without giving it away, whether a chat's keys are still signed with the same encryption key. */
export function encryptionKeyId(installation: Installation, secret: string): string {
  return createHash('sha256').update(encryptionKeyOf(installation, secret)).digest('base64url')
}

interface Remembered {
  installationId: string
  encryptionKey: string
  verified: UserKey
}

/** Keys and what was found in them: a client sends the same one with every request. */
const verifiedKeys = new LRUCache<string, Remembered>({ max: 10_000 })
/** Ours are about 250 characters long. Who signs keys may put much more into them, and that is not remembered. */
const longestRemembered = 1000

/**
 * Verifies a key; `exp` and `nbf` are honoured.
 *
 * @param secret the platform's own secret
 * @throws ApiError `Unauthorized`
 */
export async function verifyUserKey(installation: Installation, secret: string, key: string): Promise<UserKey> {
  const encryptionKey = encryptionKeyOf(installation, secret)
  const known = verifiedKeys.get(key)
  if (known?.encryptionKey === encryptionKey && known.installationId === installation.id && !isOver(known.verified)) {
    return known.verified
  }
  try {
    const { payload } = await jwtVerify(key, toBytes(encryptionKey), { algorithms: [algorithm] })
    const verified = readClaims(installation, secret, payload)
    if (verified) {
      if (key.length <= longestRemembered) {
        verifiedKeys.set(key, { installationId: installation.id, encryptionKey, verified })
      }
      return verified
    }
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
  }
  throw new ApiError(
    'Unauthorized',
    'The x-user-key is not valid for this chat: send the key from createUser, or sign { id } with the chat’s encryption key',
  )
}

function isOver({ expiresAt }: UserKey): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now()
}

/** Undefined when the claims are not those of a key. */
function readClaims(installation: Installation, secret: string, payload: JWTPayload): UserKey | undefined {
  const { id, iat, exp, [bindingClaim]: binding } = payload
  if (typeof id !== 'string' || id === '') return undefined
  const key = { externalUserId: id, ...(exp !== undefined && { expiresAt: exp * 1000 }) }
  if (binding !== undefined) {
    const boundUserId = readBinding(installation, secret, binding)
    return boundUserId === undefined ? undefined : { ...key, boundUserId }
  }
  // Before the platform bound its keys to users it made the same as a site does, always with `iat`, and always with the
  // shared encryption key.
  if (iat === undefined || chatConfigurationOf(installation).encryptionKey !== undefined) return key
  return { ...key, keyIssuedAt: new Date(Math.min(Math.max(iat, 0), latestSeconds) * 1000) }
}

/** The year 2100: dates that PostgreSQL does not know are no reason to fail. */
const latestSeconds = 4_102_444_800

/** The user whom a key names; undefined when it is not the platform that says so. */
function readBinding(installation: Installation, secret: string, binding: unknown): string | undefined {
  if (typeof binding !== 'string') return undefined
  const [userId = ''] = binding.split('.', 1)
  const expected = Buffer.from(bindingTo(installation, secret, userId))
  const given = Buffer.from(binding)
  return given.length === expected.length && timingSafeEqual(given, expected) ? userId : undefined
}

function toBytes(encryptionKey: string): Uint8Array {
  return new TextEncoder().encode(encryptionKey)
}
