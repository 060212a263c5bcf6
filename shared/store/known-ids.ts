/**
 * Clients know users and conversations by ids of their own choice (foreign ids) or by ours; within an installation, a
 * foreign id comes first. These are scalar SQL expressions for our id, null when there is none.
 *
 * Each side is a look-up by a unique index of its own. Written as `foreign_id = … or id = …` it is one scan of all rows
 * of the installation; and the installation is a `case` and not a condition, so that it does not attract that index.
 */
export function ownId(
  table: 'users' | 'conversations',
  { installation, known }: { installation: string; known: string },
): string {
  return `coalesce(
    (select id from ${table} where installation_id = ${installation} and foreign_id = ${known}),
    (select case when installation_id = ${installation} then id end from ${table} where id = ${known})
  )`
}

/** The user that an installation's (`:installationId`) clients know as `:knownUserId`. */
export const knownUser = ownId('users', { installation: ':installationId', known: ':knownUserId' })

/** The conversation that an installation's (`:installationId`) clients know as `:knownConversationId`. */
export const knownConversation = ownId('conversations', {
  installation: ':installationId',
  known: ':knownConversationId',
})
