import type { UserKey } from '../models/user-key.ts'

/**
 * Clients identify users and conversations by internal ids, or by ids of their own choice (external ids). The two name
 * spaces are disjoint: an external id of the internal shape is refused (`isInternalId`), and for ids from before that
 * rule the internal id takes precedence.
 *
 * These are scalar SQL expressions for the internal id, null when there is none. Each side is a look-up in a unique
 * index of its own. `foreign_id = … or id = …` would scan all rows of the installation; and the installation is
 * compared in a `case` and not in a condition, so that the planner does not choose its index.
 */
export function ownId(
  table: 'users' | 'conversations',
  { installation, known }: { installation: string; known: string },
): string {
  return `coalesce(
    (select case when installation_id = ${installation} then id end from ${table} where id = ${known}),
    (select id from ${table} where installation_id = ${installation} and foreign_id = ${known})
  )`
}

/** The user whose id is `:externalUserId` for clients of the installation `:installationId`. */
export const externalUser = ownId('users', { installation: ':installationId', known: ':externalUserId' })

/** The conversation whose id is `:externalConversationId` for clients of the installation `:installationId`. */
export const externalConversation = ownId('conversations', {
  installation: ':installationId',
  known: ':externalConversationId',
})

/**
 * Tolerated difference between the clocks of the api and of PostgreSQL: a user and its key are made at the same moment.
 */
const sameMoment = `interval '10 seconds'`

/**
 * SQL for the user who holds a key. A key with a user id (`holder_id`) is valid for that user only, and has no
 * `holder_name`. Any other key is valid for the user of its external id; one that an earlier version made is valid only
 * if it is not older than the user's `keys_since`, or was made together with the user.
 */
export function holderOf(key: Record<'installation' | 'known' | 'id' | 'name' | 'issuedAt', string>): string {
  const fits = `(
    ${key.issuedAt}::timestamptz is null or keys_since is null or ${key.issuedAt} >= keys_since
    or ${key.issuedAt} between created_at - ${sameMoment} and created_at + ${sameMoment}
  )`
  return `coalesce(
    (select case when installation_id = ${key.installation} and ${key.known} in (id, foreign_id) and ${fits} then id end
     from users where id = ${key.id}),
    (select case when ${fits} then id end
     from users where installation_id = ${key.installation} and foreign_id = ${key.name})
  )`
}

/** `holderOf` for the values of `keyBindings` and `:installationId`. */
export const keyHolder = holderOf({
  installation: ':installationId',
  known: ':externalUserId',
  id: ':holderId',
  name: ':holderName',
  issuedAt: ':keyIssuedAt',
})

export function keyBindings({ externalUserId, boundUserId, keyIssuedAt }: UserKey) {
  return {
    externalUserId,
    holderId: boundUserId ?? externalUserId,
    holderName: boundUserId === undefined ? externalUserId : null,
    keyIssuedAt: keyIssuedAt ?? null,
  }
}
