import { randomBytes, randomFillSync, randomUUID } from 'node:crypto'
import { decodeTime, encodeTime, monotonicFactory } from 'ulid'

const pool = Buffer.alloc(4096)
let used = pool.length

/** A random fraction from a pool. By default the library asks the system for each of an id's sixteen random digits. */
function fraction(): number {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool.readUInt8(used++) / 256
}

const ulid = monotonicFactory(fraction)

/** The prefix of an id names its kind. The prefixes are those of the published API. */
type IdPrefix =
  | 'wkspace'
  | 'account'
  | 'pat'
  | 'bak'
  | 'iak'
  | 'bot'
  | 'botver'
  | 'int'
  | 'intver'
  | 'ifver'
  | 'pluginver'
  | 'code'
  | 'user'
  | 'conv'
  | 'msg'
  | 'evt'
  | 'state'
  | 'workflow'
  | 'check'
  | 'audit'
  | 'object'
  | 'file'
  | 'kb'
  | 'table'
  | 'job'
  | 'handover'
  | 'note'
  | 'reply'
  | 'session'
  | 'datareq'

/** A new id that sorts by time of creation, for instance `msg_01JD2W6VYB0M3W6TQ5XKX1J9QZ`. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${ulid()}`
}

/** The time at which `newId` made an id, in milliseconds. */
export function timeOfId(id: string): number {
  return decodeTime(id.slice(id.indexOf('_') + 1))
}

/** Internal ids that chat clients see: a Crockford ULID after one of these prefixes. */
const internalIdPattern = /^(user|bot|conv|msg|evt)_[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/**
 * Whether an id has the shape of an internal one, for instance `user_01JD2W6VYB0M3W6TQ5XKX1J9QZ`. Clients may not
 * choose such an id, since it could be taken for that of another resource.
 */
export function isInternalId(id: string): boolean {
  return internalIdPattern.test(id)
}

/** A lower bound in id order: ids made since a moment sort after it, ids made before sort before it. */
export function idsSince(prefix: IdPrefix, milliseconds: number): string {
  return `${prefix}_${encodeTime(milliseconds)}`
}

/** A new webhook id. It is part of an address that must not be guessable, so it is random and not time-ordered. */
export function newWebhookId(): string {
  return randomUUID()
}

/** A new secret with which an account, a bot or an integration authenticates. */
export function newToken(prefix: 'pat' | 'bak' | 'iak' | 'inv' | 'aut' | 'sid' = 'pat'): string {
  return `${prefix}_${randomBytes(27).toString('base64url')}`
}
