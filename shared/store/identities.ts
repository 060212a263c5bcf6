import type { Role } from '../models/tables.ts'
import { query, type Database } from './database.ts'

/** A person as an OpenID provider names one. */
export interface IdentityKey {
  issuer: string
  subject: string
}

/** The account of an identity. */
export async function findIdentity(db: Database, { issuer, subject }: IdentityKey): Promise<string | undefined> {
  const row = await db('identities').where({ issuer, subject }).first('account_id')
  return row?.account_id
}

/** Makes concurrent first sign-ins of one identity wait for each other until the transaction ends. */
export async function lockIdentity(transaction: Database, { issuer, subject }: IdentityKey): Promise<void> {
  await query(transaction, `select pg_advisory_xact_lock(hashtextextended(:key, 0))`, {
    key: `identity ${issuer} ${subject}`,
  })
}

export async function insertIdentity(db: Database, identity: IdentityKey & { accountId: string }): Promise<void> {
  const { issuer, subject, accountId } = identity
  await db('identities').insert({ issuer, subject, account_id: accountId })
}

/** A membership, and whether claims gave it. */
export interface Membership {
  workspaceId: string
  role: Role
  isFromClaims: boolean
}

/** The memberships of an account whose invitation was accepted or was not needed. */
export async function listMemberships(db: Database, accountId: string): Promise<Membership[]> {
  return query<Membership>(
    db,
    `select workspace_id as "workspaceId", role, from_claims as "isFromClaims" from members
     where account_id = :accountId and accepted_at is not null`,
    { accountId },
  )
}

/** Makes an account a member by its claims, or changes the role that its claims have given. */
export async function setRoleOfClaims(
  db: Database,
  { accountId, workspaceId, role }: { accountId: string; workspaceId: string; role: Role },
): Promise<void> {
  await query(
    db,
    `insert into members (workspace_id, account_id, role, from_claims) values (:workspaceId, :accountId, :role, true)
     on conflict (workspace_id, account_id) do update set role = excluded.role where members.from_claims`,
    { accountId, workspaceId, role },
  )
}
