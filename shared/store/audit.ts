import { boundedPage } from './bounded-page.ts'
import type { Page, PageRequest } from './pagination.ts'
import { query, type Database } from './database.ts'
import type { AuditRecordRow } from '../models/tables.ts'

export interface BegunRecord {
  id: string
  /** Null when an account changes its own data. */
  workspaceId: string | null
  accountId: string
  /** The email under which the workspace is to know the account, when it is not a member yet. */
  email: string | null
  operation: string
  fields: string
  resourceId: string | null
}

/** Stores a record before the action is carried out. */
export async function beginRecord(db: Database, record: BegunRecord): Promise<void> {
  await query(
    db,
    `insert into audit_records (id, workspace_id, account_id, account_email, operation, fields, resource_id)
     values (:id, :workspaceId, :accountId, coalesce(
         :email,
         (select email from members where workspace_id = :workspaceId and account_id = :accountId),
         (select email from accounts where id = :accountId)
       ), :operation, :fields, :resourceId)`,
    { ...record },
  )
}

/** Marks a record as done. The answer's resource id is used when the request's path contained none. */
export async function endRecord(db: Database, id: string, resource: { id?: string; name?: string }): Promise<void> {
  await query(
    db,
    `update audit_records set outcome = 'done', resource_id = coalesce(resource_id, :resourceId), resource_name = :name
     where id = :id`,
    { id, resourceId: resource.id ?? null, name: resource.name ?? null },
  )
}

/** Whether an account has a record of reading a resource, not older than a time. */
export async function hasReading(
  db: Database,
  reading: Pick<BegunRecord, 'id' | 'workspaceId' | 'accountId' | 'fields' | 'resourceId'> & { since: Date },
): Promise<boolean> {
  const [row] = await query(
    db,
    `select from audit_records
     where id = :id and account_id = :accountId and workspace_id is not distinct from :workspaceId
       and resource_id is not distinct from :resourceId and fields = :fields and created_at >= :since`,
    { ...reading },
  )
  return row !== undefined
}

/** Deletes the record of a refused action. */
export async function deleteRecord(db: Database, id: string): Promise<void> {
  await db('audit_records').where({ id }).delete()
}

/** Selects records of a workspace. */
export interface AuditFilter {
  userId?: string | undefined
  operation?: string | undefined
  resourceId?: string | undefined
}

/**
 * One page of the actions in a workspace, and of its members' actions on their own accounts; newest first. It reads a bounded
 * number of records: with a filter that few records pass, it may have few, and still a token.
 */
export async function pageOfAuditRecords(
  db: Database,
  workspaceId: string,
  { userId, operation, resourceId }: AuditFilter,
  request: PageRequest,
): Promise<Page<AuditRecordRow>> {
  const members = db('members').where({ workspace_id: workspaceId }).select('account_id')
  // An account chooses its own email freely, so the email that the workspace knows takes precedence.
  const known = db('members').where({ workspace_id: workspaceId }).whereRaw('account_id = audit_records.account_id')
  return boundedPage(
    db,
    {
      table: 'audit_records',
      // Each part has an index: a condition with `or` would read all records of the workspace.
      parts: [
        (records) => void records.where({ workspace_id: workspaceId }),
        (records) => void records.whereNull('workspace_id').whereIn('account_id', members),
      ],
      passing(records) {
        void records.select(db.raw('coalesce(?, account_email) as account_email', [known.select('email')]))
        if (userId !== undefined) void records.where({ account_id: userId })
        if (operation !== undefined) void records.where({ operation })
        if (resourceId !== undefined) void records.where({ resource_id: resourceId })
      },
    },
    request,
  )
}
