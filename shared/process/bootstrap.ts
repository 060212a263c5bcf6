import { newId } from '../ids.ts'
import { hashToken } from '../secrets.ts'
import { insertAccount, insertMember, insertPersonalToken, insertWorkspace } from '../store/accounts.ts'
import type { Database } from '../store/database.ts'
import { firstWorkspaceId } from '../store/workspaces.ts'

/** Marks the token from the environment, so that a changed value replaces it. */
const note = 'ISOBOT_ADMIN_TOKEN'

/**
 * Creates the default workspace and its owner on a new platform, and sets the owner's token to the given one. A token
 * that the environment contained before becomes invalid. Idempotent, and safe for concurrent processes.
 *
 * @returns the id of the default workspace
 */
export async function ensureAdministrator(db: Database, token: string): Promise<string> {
  return db.transaction(async (transaction) => {
    await transaction.raw(`select pg_advisory_xact_lock(hashtext('isobot administrator'))`)
    const { accountId, workspaceId } = (await firstOwner(transaction)) ?? (await createOwner(transaction))
    const hash = hashToken(token)
    await transaction('tokens').where({ account_id: accountId, note }).whereNot({ hash }).delete()
    const existing = await transaction('tokens').where({ hash }).first('id')
    if (!existing) await insertPersonalToken(transaction, { id: newId('pat'), hash, accountId, note })
    return workspaceId
  })
}

interface Owner {
  accountId: string
  workspaceId: string
}

/** The owner of the platform's first workspace: owners of other workspaces are its tenants. */
async function firstOwner(db: Database): Promise<Owner | undefined> {
  const workspaceId = await firstWorkspaceId(db)
  if (workspaceId === undefined) return undefined
  const member = await db('members')
    .where({ workspace_id: workspaceId, role: 'owner' })
    .whereNotNull('accepted_at')
    .orderBy(['created_at', 'account_id'])
    .first('account_id')
  return member && { accountId: member.account_id, workspaceId }
}

async function createOwner(db: Database): Promise<Owner> {
  const owner = { accountId: newId('account'), workspaceId: newId('wkspace') }
  await insertWorkspace(db, { id: owner.workspaceId, name: 'Default' })
  await insertAccount(db, { id: owner.accountId, name: 'Administrator' })
  await insertMember(db, { ...owner, role: 'owner' })
  return owner
}
