import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import type { DescribedWorkspaceRow } from '../models/workspace.ts'
import type { Database } from './database.ts'
import type { WorkspaceProfile, WorkspaceRow } from '../models/tables.ts'

export async function findWorkspace(db: Database, id: string): Promise<DescribedWorkspaceRow | undefined> {
  return described(db).where({ id }).first()
}

/** One page of an account's workspaces, oldest first. */
export async function pageOfWorkspaces(
  db: Database,
  accountId: string,
  handle: string | undefined,
  request: PageRequest,
): Promise<Page<DescribedWorkspaceRow>> {
  const memberships = db('members').where({ account_id: accountId }).whereNotNull('accepted_at').select('workspace_id')
  const rows: DescribedWorkspaceRow[] = await described(db)
    .whereIn('id', memberships)
    .modify((builder) => {
      if (handle !== undefined) void builder.where({ handle })
      page(builder, { ...request, ascending: true })
    })
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/** One page of the workspaces whose profiles are public, oldest first. */
export async function pageOfPublicWorkspaces(
  db: Database,
  { workspaceIds, search }: { workspaceIds?: string[]; search?: string },
  request: PageRequest,
): Promise<Page<WorkspaceRow>> {
  const rows: WorkspaceRow[] = await db('workspaces')
    .whereRaw(`profile @> '{"isPublic": true}'`)
    .modify((builder) => {
      if (workspaceIds) void builder.whereIn('id', workspaceIds)
      if (search) void builder.whereRaw(`position(lower(?) in lower(concat_ws(E'\\n', name, handle))) > 0`, [search])
      page(builder, { ...request, ascending: true })
    })
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/**
 * Prevents changes of a workspace and its members until the transaction ends. False when there is no such workspace.
 */
export async function lockWorkspace(transaction: Database, id: string): Promise<boolean> {
  return (await transaction('workspaces').where({ id }).forNoKeyUpdate().first('id')) !== undefined
}

/**
 * Keeps a workspace as it is until the transaction ends, for its deletion: it waits for bots, integrations and members that are
 * being created, and for installations of its integrations, and none is created meanwhile.
 */
export async function lockForDeletion(transaction: Database, id: string): Promise<void> {
  // Foreign keys of rows that are inserted lock what they refer to, which only this kind of lock waits for.
  await transaction('workspaces').where({ id }).forUpdate().first('id')
  await transaction('integrations').where({ workspace_id: id }).orderBy('id').forUpdate().select('id')
}

/** Locks several workspaces, as `lockWorkspace` does, in an order that makes no deadlock. */
export async function lockWorkspaces(transaction: Database, ids: string[]): Promise<void> {
  await transaction('workspaces').whereIn('id', ids).orderBy('id').forNoKeyUpdate().select('id')
}

/** Sets the given fields and leaves the others unchanged. */
export async function updateWorkspaceFields(
  db: Database,
  id: string,
  { name, handle, profile }: { name?: string | undefined; handle?: string | undefined; profile: WorkspaceProfile },
): Promise<void> {
  await db('workspaces')
    .where({ id })
    .update({
      ...(name !== undefined && { name }),
      ...(handle !== undefined && { handle }),
      profile: db.raw('profile || ?::jsonb', [JSON.stringify(profile)]),
      updated_at: db.fn.now(3),
    })
}

/** Deletes a workspace with its members and integrations. It must have no bots. */
export async function deleteWorkspaceRow(db: Database, id: string): Promise<void> {
  await db('workspaces').where({ id }).delete()
}

export async function hasBots(db: Database, workspaceId: string): Promise<boolean> {
  return (await db('bots').where({ workspace_id: workspaceId }).first('id')) !== undefined
}

/** The workspaces that have one of the given handles. */
export async function usedHandles(db: Database, handles: string[]): Promise<{ id: string; handle: string | null }[]> {
  return db('workspaces').whereIn('handle', handles).select('id', 'handle')
}

function described(db: Database) {
  const owner = db('members').whereRaw(`workspace_id = workspaces.id and role = 'owner' and accepted_at is not null`)
  return db<DescribedWorkspaceRow, DescribedWorkspaceRow[]>('workspaces').select(
    'workspaces.*',
    owner.orderBy(['created_at', 'account_id']).limit(1).select('account_id').as('owner_id'),
    db.raw('(select count(*)::integer from bots where workspace_id = workspaces.id) as bot_count'),
  )
}

/** The platform's first workspace, which belongs to its operators. */
export async function firstWorkspaceId(db: Database): Promise<string | undefined> {
  return (await db('workspaces').orderBy(['created_at', 'id']).first('id'))?.id
}
