import { randomBytes } from 'node:crypto'
import { lookup } from 'mime-types'
import { ApiError } from '../../errors.ts'
import { faultOfKey, maxFileTags } from '../../models/file.ts'
import type { FileRow } from '../../models/tables.ts'
import type { BotCaller } from '../../rpc/caller.ts'
import type { FileOwner } from '../../store/runtime-files.ts'

/** The rules of a file's fields that a schema does not express. */

/** A new name for a public content, which cannot be guessed. */
export function newPublicId(): string {
  return randomBytes(18).toString('base64url')
}

/** @throws ApiError `InvalidPayload` */
export function assertKey(key: string): void {
  const fault = faultOfKey(key)
  if (fault !== undefined) throw new ApiError('InvalidPayload', fault)
}

const defaultType = 'application/octet-stream'

/** The content type of a file: that which is given, else that of the key's extension. */
export function contentTypeOf(key: string, given = ''): string {
  return given || lookup(key) || defaultType
}

const maxDays = 90
const dayMilliseconds = 24 * 3600 * 1000
/** Callers compute the time before they send it, by a clock of their own. */
const graceMilliseconds = 60_000

/**
 * Reads the time at which a file expires.
 * @throws ApiError `InvalidPayload` when it is past or too far
 */
export function toExpiry(given: string): Date {
  const expiry = new Date(given)
  const left = expiry.getTime() - Date.now()
  if (left > 0 && left <= maxDays * dayMilliseconds + graceMilliseconds) return expiry
  throw new ApiError('InvalidPayload', `expiresAt must be in the future, at most ${maxDays} days from now`)
}

/** @throws ApiError `LimitExceeded` */
export function assertTagCount({ tags }: Pick<FileRow, 'tags'>): void {
  const count = Object.keys(tags).length
  if (count <= maxFileTags) return
  throw new ApiError('LimitExceeded', `A file may have ${maxFileTags} tags, and would have ${count}: remove some`)
}

/** @param userId the user on whose behalf the caller acts */
export function ownerOf({ installation }: BotCaller, userId?: string): FileOwner {
  if (userId !== undefined) return { type: 'user', userId }
  if (!installation) return { type: 'bot' }
  return { type: 'integration', integration: installation.integration, alias: installation.alias }
}

/** The parts of a patch: null removes a field. Unlike in tags of conversations, an empty text is a value. */
export function toPatch<Value>(changes: Record<string, Value | null> = {}): {
  set: Record<string, Value>
  removed: string[]
} {
  const entries = Object.entries(changes)
  return {
    set: Object.fromEntries(entries.filter((entry): entry is [string, Value] => entry[1] !== null)),
    removed: entries.filter(([, value]) => value === null).map(([name]) => name),
  }
}
