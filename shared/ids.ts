import { randomBytes, randomFillSync, randomUUID } from 'node:crypto'
import { encodeTime, monotonicFactory } from 'ulid'

const pool = Buffer.alloc(4096)
let used = pool.length

/** A random fraction. By default the library asks the system for each of an id's sixteen random digits. */
function fraction(): number {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool.readUInt8(used++) / 256
}

const ulid = monotonicFactory(fraction)

/** What an id begins with tells what it names. The prefixes are those of the published API. */
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
  | 'code'
  | 'user'
  | 'conv'
  | 'msg'
  | 'evt'
  | 'state'
  | 'workflow'
  | 'check'
  | 'audit'

/** A new id that sorts by time of creation, for instance `msg_01JD2W6VYB0M3W6TQ5XKX1J9QZ`. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${ulid()}`
}

/** Ids that chat clients meet: a Crockford ULID after one of these is ours. */
const ourShape = /^(user|bot|conv|msg|evt)_[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/**
 * Whether an id could be one that the platform made, for instance `user_01JD2W6VYB0M3W6TQ5XKX1J9QZ`. Nobody may choose
 * such a one: it would be taken for somebody else's.
 */
export function hasOurShape(id: string): boolean {
  return ourShape.test(id)
}

/** What every id comes after that was made since a moment, and none that was made before. */
export function idsSince(prefix: IdPrefix, milliseconds: number): string {
  return `${prefix}_${encodeTime(milliseconds)}`
}

/** A new webhook id. It is an address that outsiders are not to guess, so it is random and not time-ordered. */
export function newWebhookId(): string {
  return randomUUID()
}

/** A new secret that a person, a bot or an integration presents to prove who it is. */
export function newToken(prefix: 'pat' | 'bak' | 'iak' | 'inv' = 'pat'): string {
  return `${prefix}_${randomBytes(27).toString('base64url')}`
}
