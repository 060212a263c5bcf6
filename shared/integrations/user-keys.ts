import { createHash } from 'node:crypto'
import { errors, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import { chatConfigurationOf } from '../models/chat-configuration.ts'
import type { UserKey } from '../models/user-key.ts'
import { isSignature, sharedEncryptionKey, userBinding, validSecrets, type PlatformSecret } from '../secrets.ts'
import type { Installation } from '../models/tables.ts'

/**
 * A chat user's key is a JSON Web Token, HS256, whose payload has `id`, the user's external id. Every holder of the
 * installation's encryption key may sign one, which is valid for the user who has that id at the time of use.
 *
 * A key that the platform makes also names the user's row (`bindingClaim`), with a proof that only the platform can
 * make. It is valid for that user alone, not for a later user with the same id (docs/decisions/0033).
 */
const algorithm = 'HS256'
const bindingClaim = 'isobot_user'

/**
 * Nearly every request needs the encryption key, so it is cached as long as its installation: some seconds
 * (`installation-cache.ts`).
 */
const keysOfInstallations = new WeakMap<Installation, KnownKeys>()

interface KnownKeys {
  secret: PlatformSecret
  /** The key that signs, and the one of a second secret that is accepted. */
  keys: [string, ...string[]]
  /** The hash of the key that signs. */
  id: string
}

/**
 * The key that signs an installation's user keys: the configured one, else one derived from the platform's secret.
 *
 * @param secret the platform's secret
 */
export function encryptionKeyOf(installation: Installation, secret: PlatformSecret): string {
  return keysOf(installation, secret).keys[0]
}

function keysOf(installation: Installation, secret: PlatformSecret): KnownKeys {
  const known = keysOfInstallations.get(installation)
  if (known?.secret === secret) return known
  const { encryptionKey } = chatConfigurationOf(installation)
  const derived = validSecrets(secret).map((each) => sharedEncryptionKey(each, installation.id))
  const keys = (encryptionKey === undefined ? derived : [encryptionKey]) as [string, ...string[]]
  const own = { secret, keys, id: createHash('sha256').update(keys[0]).digest('base64url') }
  keysOfInstallations.set(installation, own)
  return own
}

/**
 * Signs a key for a user. The key does not expire.
 *
 * @param id the user's external id
 * @param binding to the one user for whom the key is valid (`bindingTo`)
 */
export async function signUserKey(encryptionKey: string, id: string, binding?: string): Promise<string> {
  return new SignJWT({ id, ...(binding !== undefined && { [bindingClaim]: binding }) })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .setIssuedAt()
    .sign(toBytes(encryptionKey))
}

/**
 * The binding of a key to a user's row, with the platform's proof.
 *
 * @param secret the platform's secret
 */
export function bindingTo(installation: Installation, secret: PlatformSecret, userId: string): string {
  return `${userId}.${userBinding(secret.current, installation.id, userId)}`
}

/** A hash of a chat's encryption key: it differs when the key has changed, and does not disclose it. */
export function encryptionKeyId(installation: Installation, secret: PlatformSecret): string {
  return keysOf(installation, secret).id
}

interface Remembered {
  installationId: string
  encryptionKey: string
  verified: UserKey
}

/** By so much the clock of a site's server may be ahead of this machine's, where its keys begin with the time of their signature. */
const clockToleranceSeconds = 60

/** Verified keys, since a client sends the same one with every request. */
const verifiedKeys = new LRUCache<string, Remembered>({ max: 10_000 })
/** The platform's keys have about 250 characters. Keys that others sign may be much longer; those are not cached. */
const longestRemembered = 1000

/**
 * Verifies a key; `exp` is honoured, and so is `nbf`, with a tolerance.
 *
 * @param secret the platform's secret
 * @throws ApiError `Unauthorized`
 */
export async function verifyUserKey(installation: Installation, secret: PlatformSecret, key: string): Promise<UserKey> {
  const encryptionKeys = keysOf(installation, secret).keys
  const known = verifiedKeys.get(key)
  const isKnown = known?.installationId === installation.id && encryptionKeys.includes(known.encryptionKey)
  if (isKnown && !isOver(known.verified)) return known.verified
  for (const encryptionKey of encryptionKeys) {
    try {
      const options = { algorithms: [algorithm], clockTolerance: clockToleranceSeconds }
      const { payload } = await jwtVerify(key, toBytes(encryptionKey), options)
      const verified = readClaims(installation, secret, payload)
      // The tolerance is not for the end of a key.
      if (!verified || isOver(verified)) break
      if (key.length <= longestRemembered) {
        verifiedKeys.set(key, { installationId: installation.id, encryptionKey, verified })
      }
      return verified
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
    }
  }
  throw new ApiError(
    'Unauthorized',
    'The x-user-key is not valid for this chat: send the key from createUser, or sign { id } with the chat’s encryption key',
  )
}

/**
 * Verifies the key of a visitor of the web chat. A key that a site has signed must expire: it is in the reach of all
 * scripts of a page.
 *
 * @param secret the platform's secret
 * @throws ApiError `Unauthorized`
 */
export async function verifyVisitorKey(
  installation: Installation,
  secret: PlatformSecret,
  key: string,
): Promise<UserKey> {
  const verified = await verifyUserKey(installation, secret, key)
  if (isSignedBySite(installation) && verified.expiresAt === undefined) {
    throw new ApiError('Unauthorized', 'The x-user-key does not expire: sign { id, exp } with the key of the web chat')
  }
  return verified
}

/** Whether only keys are valid that a site's own server has signed. */
export function isSignedBySite(installation: Installation): boolean {
  return chatConfigurationOf(installation).encryptionKey !== undefined
}

function isOver({ expiresAt }: UserKey): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now()
}

/** Undefined when the claims are not those of a key. */
function readClaims(installation: Installation, secret: PlatformSecret, payload: JWTPayload): UserKey | undefined {
  const { id, iat, exp, [bindingClaim]: binding } = payload
  if (typeof id !== 'string' || id === '') return undefined
  const key = { externalUserId: id, ...(exp !== undefined && { expiresAt: exp * 1000 }) }
  if (binding !== undefined) {
    const boundUserId = readBinding(installation, secret, binding)
    return boundUserId === undefined ? undefined : { ...key, boundUserId }
  }
  // Before the platform bound its keys to users, they had the form of a site's keys, always with `iat` and the shared
  // encryption key.
  if (iat === undefined || chatConfigurationOf(installation).encryptionKey !== undefined) return key
  return { ...key, keyIssuedAt: new Date(Math.min(Math.max(iat, 0), latestSeconds) * 1000) }
}

/** The year 2100: clamps `iat` to dates that PostgreSQL accepts. */
const latestSeconds = 4_102_444_800

/** The user whom a key's binding names; undefined when the proof is not the platform's. */
function readBinding(installation: Installation, secret: PlatformSecret, binding: unknown): string | undefined {
  if (typeof binding !== 'string') return undefined
  const [userId = '', proof = ''] = binding.split('.')
  const isProven = isSignature(secret, proof, (each) => userBinding(each, installation.id, userId))
  return isProven && binding === `${userId}.${proof}` ? userId : undefined
}

function toBytes(encryptionKey: string): Uint8Array {
  return new TextEncoder().encode(encryptionKey)
}
