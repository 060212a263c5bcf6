import type { Context } from '#shared/context.ts'
import { personTerms, type PersonTerms, type Subject } from '#shared/models/person-terms.ts'
import type { DataRequestRow } from '#shared/models/tables.ts'
import type { Database } from '#shared/store/database.ts'
import { advanceDataRequest, type RequestProgress } from '#shared/store/data-requests.ts'

/** A run of a data request, which has read who the person is. */
export interface ErasureRun {
  context: Context
  request: DataRequestRow
  subject: Subject
}

/** The request names more users than one person has. Nothing has been erased. */
export class TooManyUsersError extends Error {
  override name = 'TooManyUsersError'
}

export function scopeOf({ workspace_id: workspaceId, bot_id: botId }: DataRequestRow) {
  return { workspaceId, botId }
}

/** The texts by which rows name the person. @param ids the ids of users that are among them */
export function termsOf({ subject }: ErasureRun, ids: string[]): PersonTerms | null {
  const { externalId } = subject
  return personTerms(subject, [...new Set(externalId === undefined ? ids : [...ids, externalId])])
}

/** Stores how far the request is. */
export function advance(run: ErasureRun, progress: RequestProgress): Promise<DataRequestRow> {
  return inTransaction(run, async () => progress)
}

/** Performs one step in one transaction, which also stores how far the request is. */
export async function inTransaction(
  { context, request }: ErasureRun,
  work: (transaction: Database) => Promise<RequestProgress>,
): Promise<DataRequestRow> {
  return context.db.transaction(async (transaction) =>
    advanceDataRequest(transaction, request, await work(transaction)),
  )
}
