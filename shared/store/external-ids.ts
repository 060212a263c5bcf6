import type { UserKey } from '../models/user-key.ts'

/**
 * Clients know users and conversations by our ids or by ids of their own choice (external ids). The two never meet: an
 * id of our shape is not accepted as an external one (`hasOurShape`), and where one is from before that rule, our
 * own ids come first.
 *
 * These are scalar SQL expressions for our id, null when there is none. Each side is a look-up by a unique index of its
 * own. Written as `foreign_id = … or id = …` it is one scan of all rows of the installation; and the installation is a
 * `case` and not a condition, so that it does not attract that index.
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

/** The user that an installation's (`:installationId`) clients know as `:externalUserId`, for instance in a path. */
export const externalUser = ownId('users', { installation: ':installationId', known: ':externalUserId' })

/** The conversation that an installation's (`:installationId`) clients know as `:externalConversationId`. */
export const externalConversation = ownId('conversations', {
  installation: ':installationId',
  known: ':externalConversationId',
})

/** How far the clocks of the api and of PostgreSQL may differ: a user and its key are made at the same moment. */
const sameMoment = `interval '10 seconds'`

/**
 * The user whose key it is. A key that names its user (`holder_id`) is good for that one alone, and no `holder_name` is
 * given. Any other is good for the user of its id, but those of earlier versions only where they are not older than the
 * user accepts (`keys_since`), or were made together with the user.
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

/** The same of the values of `keyBindings`, and `:installationId`. */
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
