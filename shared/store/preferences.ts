import { ApiError, notFound } from '../errors.ts'
import { storedLength } from '../json/exponents.ts'
import { maxPreferenceCharacters, maxPreferences } from '../models/preference.ts'
import { query, type Database } from './database.ts'

/** The owner of preferences. */
export type PreferenceOwner = { accountId: string } | { workspaceId: string }

/** The value of a preference; undefined when there is none. */
export async function findPreference(db: Database, owner: PreferenceOwner, key: string): Promise<unknown> {
  return (
    await db('preferences')
      .where({ ...columnsOf(owner), key })
      .first('value')
  )?.value
}

/**
 * Sets a preference, or deletes it.
 *
 * @param value undefined deletes the preference
 * @throws ApiError `LimitExceeded` when the value is too long or the owner has the maximum of preferences,
 *   `ResourceNotFound` when the owner was just deleted
 */
export async function setPreference(db: Database, owner: PreferenceOwner, key: string, value: unknown): Promise<void> {
  const columns = columnsOf(owner)
  if (value === undefined) {
    await db('preferences')
      .where({ ...columns, key })
      .delete()
    return
  }
  const text = JSON.stringify(value)
  if (storedLength(text) > maxPreferenceCharacters) {
    throw new ApiError('LimitExceeded', `A preference has at most ${maxPreferenceCharacters} characters of JSON`, {
      metadata: { limit: maxPreferenceCharacters },
    })
  }
  await db.transaction(async (transaction) => {
    const id = columns.account_id ?? columns.workspace_id
    const owners = transaction(columns.account_id === null ? 'workspaces' : 'accounts')
    // The lock serialises insertions, so that concurrent ones do not count the same preferences.
    if (!(await owners.where({ id }).forNoKeyUpdate().first('id')))
      throw notFound(`'${id}'`, 'it has just been deleted')
    const others = transaction('preferences').where(columns).whereNot({ key })
    if ((await others.limit(maxPreferences).pluck('key')).length >= maxPreferences) {
      throw new ApiError('LimitExceeded', `There are ${maxPreferences} preferences already: delete one first`, {
        metadata: { limit: maxPreferences },
      })
    }
    await query(
      transaction,
      `insert into preferences (account_id, workspace_id, key, value) values (:accountId, :workspaceId, :key, :text)
       on conflict (account_id, workspace_id, key) do update set value = excluded.value, updated_at = now()`,
      { accountId: columns.account_id, workspaceId: columns.workspace_id, key, text },
    )
  })
}

function columnsOf(owner: PreferenceOwner) {
  return 'accountId' in owner
    ? { account_id: owner.accountId, workspace_id: null }
    : { account_id: null, workspace_id: owner.workspaceId }
}
