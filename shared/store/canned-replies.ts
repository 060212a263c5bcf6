import { ApiError } from '../errors.ts'
import { maxCannedReplies } from '../models/canned-reply.ts'
import type { CannedReplyRow } from '../models/tables.ts'
import type { Database } from './database.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { lockWorkspace } from './workspaces.ts'

/**
 * Adds a canned reply to a workspace.
 *
 * @returns undefined when the workspace has one with this shortcut
 * @throws ApiError `LimitExceeded` when the workspace has the maximum of canned replies
 */
export async function insertCannedReply(
  transaction: Database,
  reply: Omit<CannedReplyRow, 'created_at'>,
): Promise<CannedReplyRow | undefined> {
  const { workspace_id: workspaceId } = reply
  await lockWorkspace(transaction, workspaceId)
  const present = await transaction('canned_replies')
    .where({ workspace_id: workspaceId })
    .select('shortcut')
    .limit(maxCannedReplies)
  if (present.length >= maxCannedReplies) {
    throw new ApiError(
      'LimitExceeded',
      `A workspace has at most ${maxCannedReplies} canned replies: delete one first`,
      {
        metadata: { limit: maxCannedReplies },
      },
    )
  }
  const [row] = await transaction('canned_replies')
    .insert(reply)
    .onConflict(['workspace_id', 'shortcut'])
    .ignore()
    .returning('*')
  return row
}

/** One page of a workspace's canned replies, newest first. */
export async function pageOfCannedReplies(
  db: Database,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<CannedReplyRow>> {
  const rows: CannedReplyRow[] = await db('canned_replies')
    .select('*')
    .where({ workspace_id: workspaceId })
    .modify((builder) => page(builder, request))
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/**
 * Sets the given fields of a canned reply.
 *
 * @returns undefined when the workspace has no such reply; `taken` when another one has the shortcut
 */
export async function updateCannedReply(
  transaction: Database,
  { workspaceId, id }: { workspaceId: string; id: string },
  fields: { shortcut?: string; text?: string },
): Promise<CannedReplyRow | 'taken' | undefined> {
  await lockWorkspace(transaction, workspaceId)
  const present = await transaction('canned_replies').where({ workspace_id: workspaceId, id }).first()
  if (!present || Object.keys(fields).length === 0) return present
  if (fields.shortcut !== undefined && fields.shortcut !== present.shortcut) {
    const taken = await transaction('canned_replies')
      .where({ workspace_id: workspaceId, shortcut: fields.shortcut })
      .first('id')
    if (taken) return 'taken'
  }
  const [row] = await transaction('canned_replies').where({ id }).update(fields).returning('*')
  return row
}

/** @returns whether it was deleted */
export async function deleteCannedReply(
  db: Database,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  return (await db('canned_replies').where({ workspace_id: workspaceId, id }).delete()) === 1
}
