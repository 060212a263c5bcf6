import { query, type Database } from './database.ts'
import type { Role, TokenRow, WorkspaceRow } from './tables.ts'

export async function findToken(db: Database, hash: Buffer): Promise<TokenRow | undefined> {
  return db('tokens').where({ hash }).first()
}

/** The account's role in a workspace. */
export async function findRole(db: Database, workspaceId: string, accountId: string): Promise<Role | undefined> {
  const row = await db('members').where({ workspace_id: workspaceId, account_id: accountId }).first('role')
  return row?.role
}

/** The account's role in the workspace that a bot belongs to. */
export async function findRoleForBot(db: Database, botId: string, accountId: string): Promise<Role | undefined> {
  const [row] = await query<{ role: Role }>(
    db,
    `select role from members join bots using (workspace_id) where bots.id = :botId and account_id = :accountId`,
    { botId, accountId },
  )
  return row?.role
}

export async function workspaceExists(db: Database, id: string): Promise<boolean> {
  return (await db('workspaces').where({ id }).first('id')) !== undefined
}

/** The workspaces an account is a member of, the oldest first. */
export async function listMemberships(db: Database, accountId: string): Promise<WorkspaceRow[]> {
  return db('workspaces')
    .join('members', 'members.workspace_id', 'workspaces.id')
    .where({ account_id: accountId })
    .orderBy('workspaces.created_at')
    .select('workspaces.*')
}

export async function insertWorkspace(db: Database, workspace: { id: string; name: string }): Promise<void> {
  await db('workspaces').insert(workspace)
}

export async function insertAccount(db: Database, account: { id: string; name: string }): Promise<void> {
  await db('accounts').insert(account)
}

export async function insertMember(
  db: Database,
  member: { workspaceId: string; accountId: string; role: Role },
): Promise<void> {
  await db('members').insert({ workspace_id: member.workspaceId, account_id: member.accountId, role: member.role })
}

export async function insertPersonalToken(
  db: Database,
  token: { id: string; hash: Buffer; accountId: string; note: string },
): Promise<void> {
  await db('tokens').insert({
    id: token.id,
    hash: token.hash,
    kind: 'personal',
    account_id: token.accountId,
    note: token.note,
  })
}
