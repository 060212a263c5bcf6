import { query, type Database } from './database.ts'
import type { AccountRow, Role, TokenRow } from '../models/tables.ts'
import { releaseHandovers } from './handovers.ts'
import type { ShownToken } from './tokens.ts'

/** The holder of a token: an account, a bot or an integration. */
export type TokenHolder = Pick<TokenRow, 'account_id' | 'bot_id' | 'integration_id'>

export async function findToken(db: Database, hash: Buffer): Promise<TokenHolder | undefined> {
  const [row] = await query<TokenHolder>(
    db,
    'select account_id, bot_id, integration_id from tokens where hash = :hash',
    { hash },
  )
  return row
}

/** The membership of an account in the workspace that owns a bot. */
export interface MemberForBot {
  accountId: string
  workspaceId: string
  role: Role
}

/** The holder of a token that acts as a bot. */
export interface HolderForBot extends TokenHolder {
  /** That of an account; undefined without one. */
  member: MemberForBot | undefined
  /** Whether the bot's workspace has own keys of language models. */
  hasModelKeys: boolean
}

/** As `findToken`, with all that the authentication of a request as a bot needs, in one round trip. */
export async function findTokenForBot(db: Database, hash: Buffer, botId: string): Promise<HolderForBot | undefined> {
  const [row] = await query<TokenHolder & { workspace_id: string; role: Role | null; has_model_keys: boolean }>(
    db,
    `select tokens.account_id, tokens.bot_id, tokens.integration_id, members.workspace_id, role,
       exists (select from model_keys where model_keys.workspace_id = bots.workspace_id) as has_model_keys
     from tokens
     left join bots on bots.id = :botId
     left join members on members.workspace_id = bots.workspace_id and members.account_id = tokens.account_id
       and accepted_at is not null
     where hash = :hash`,
    { hash, botId },
  )
  if (!row) return undefined
  const { workspace_id: workspaceId, role, has_model_keys: hasModelKeys, ...holder } = row
  const { account_id: accountId } = holder
  return { ...holder, member: accountId !== null && role ? { accountId, workspaceId, role } : undefined, hasModelKeys }
}

/** The account's role in a workspace whose invitation it has accepted. */
export async function findRole(db: Database, workspaceId: string, accountId: string): Promise<Role | undefined> {
  const row = await membership(db, workspaceId, accountId)
  return row?.role
}

/** Finds a role, and keeps changes of it waiting until the transaction ends. */
export async function lockRole(
  transaction: Database,
  workspaceId: string,
  accountId: string,
): Promise<Role | undefined> {
  const row = await membership(transaction, workspaceId, accountId).forShare()
  return row?.role
}

function membership(db: Database, workspaceId: string, accountId: string) {
  return db('members')
    .where({ workspace_id: workspaceId, account_id: accountId })
    .whereNotNull('accepted_at')
    .first('role')
}

/** The account's membership of the workspace that owns a bot. */
export async function findMemberForBot(
  db: Database,
  botId: string,
  accountId: string,
): Promise<MemberForBot | undefined> {
  const [row] = await query<{ workspace_id: string; role: Role }>(
    db,
    `select workspace_id, role from members join bots using (workspace_id)
     where bots.id = :botId and account_id = :accountId and accepted_at is not null`,
    { botId, accountId },
  )
  return row && { accountId, workspaceId: row.workspace_id, role: row.role }
}

export async function workspaceExists(db: Database, id: string): Promise<boolean> {
  return (await db('workspaces').where({ id }).first('id')) !== undefined
}

export async function insertWorkspace(db: Database, workspace: { id: string; name: string }): Promise<void> {
  await db('workspaces').insert(workspace)
}

/** @param account with its email in lower case */
export async function insertAccount(
  db: Database,
  account: { id: string; name: string; email?: string },
): Promise<void> {
  await db('accounts').insert(account)
}

/** Makes an account a member without an invitation. */
export async function insertMember(
  db: Database,
  member: { workspaceId: string; accountId: string; role: Role },
): Promise<void> {
  await db('members').insert({ workspace_id: member.workspaceId, account_id: member.accountId, role: member.role })
}

/** @param options `isKept` prevents the deletion of the account until the transaction ends */
export async function findAccount(db: Database, id: string, { isKept = false } = {}): Promise<AccountRow | undefined> {
  const found = db('accounts').where({ id }).first()
  return isKept ? found.forKeyShare() : found
}

/** Sets the given fields and leaves the others unchanged. */
export async function updateAccountFields(
  db: Database,
  id: string,
  { name, pictureUrl }: { name?: string | undefined; pictureUrl?: string | undefined },
): Promise<void> {
  const fields = { ...(name !== undefined && { name }), ...(pictureUrl !== undefined && { picture_url: pictureUrl }) }
  if (Object.keys(fields).length > 0) await db('accounts').where({ id }).update(fields)
}

/**
 * Deletes an account with its memberships, tokens and preferences.
 *
 * @returns false when the account has become a member of another workspace, maybe its only owner, since the transaction has
 *   looked: then it may not be committed
 */
export async function deleteAccountRow(transaction: Database, id: string): Promise<boolean> {
  // The memberships go first: an assignment keeps them until it is committed, and is released then.
  await transaction('members').where({ account_id: id }).delete()
  await releaseHandovers(transaction, id)
  // The lock waits for transactions that make the account a member, so that their rows are seen.
  await transaction('accounts').where({ id }).forUpdate().first('id')
  if (await transaction('members').where({ account_id: id }).first('workspace_id')) return false
  await transaction('accounts').where({ id }).delete()
  return true
}

/** Stores a token regardless of the account's number of tokens: its first one, or the one from the environment. */
export async function insertPersonalToken(
  db: Database,
  token: { id: string; hash: Buffer; accountId: string; note: string },
): Promise<ShownToken> {
  const [row] = await db('tokens')
    .insert({ id: token.id, hash: token.hash, kind: 'personal', account_id: token.accountId, note: token.note })
    .returning(['id', 'note', 'created_at'])
  if (!row) throw new Error('The inserted token was not returned')
  return row
}

/** False when the account has no such token. */
export async function deletePersonalToken(db: Database, accountId: string, id: string): Promise<boolean> {
  return (await db('tokens').where({ account_id: accountId, id }).delete()) === 1
}
