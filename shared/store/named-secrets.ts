import { ApiError } from '../errors.ts'
import { decryptJson, encryptJson, type PlatformSecret } from '../secrets.ts'

/** Bounded because they are decrypted for every run. */
const maxSecrets = 100

/** The row that stores secrets, encrypted for it. */
interface Owner {
  id: string
  secrets: string | null
}

/**
 * Decrypts the secrets of a bot or an integration.
 *
 * @param secret the platform's own
 * @param owner the row that stores them
 * @returns their values by name
 * @throws Error when they were encrypted with another secret
 */
export async function readSecrets(secret: PlatformSecret, { id, secrets }: Owner): Promise<Record<string, string>> {
  return secrets === null ? {} : ((await decryptJson(secret, id, secrets)) as Record<string, string>)
}

/**
 * Changes the secrets of a bot or an integration.
 *
 * @param changes by name; null removes a secret
 * @returns all secrets, encrypted for their row
 * @throws ApiError `LimitExceeded` when there are too many
 */
export async function changeSecrets(
  secret: PlatformSecret,
  owner: Owner,
  changes: Record<string, string | null>,
): Promise<string> {
  return encryptJson(secret, owner.id, await mergeSecrets(secret, owner, changes))
}

/**
 * The secrets of a bot or an integration after a change, by name.
 *
 * @throws ApiError `LimitExceeded` when there are too many
 */
export async function mergeSecrets(
  secret: PlatformSecret,
  owner: Owner,
  changes: Record<string, string | null> = {},
): Promise<Record<string, string>> {
  const all = { ...(await readSecrets(secret, owner)), ...changes }
  const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)
  if (kept.length > maxSecrets) throw new ApiError('LimitExceeded', `At most ${maxSecrets} secrets are allowed`)
  return Object.fromEntries(kept)
}
