import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection, Query } from '../connection.ts'
import { failed, Failure } from '../failure.ts'
import { assertNewFile, writeContent } from '../write-content.ts'

type AuditRecord = AnswerOf<'getAuditRecords'>['records'][number]

export interface AuditFilter {
  query: Query
  /** The oldest time of a record; undefined: all that are kept. */
  since: Date | undefined
}

/**
 * Writes audit records, a line of JSON each and the newest first, to a new file or, for `-`, to standard output. One page is
 * in memory at a time. An interrupted export leaves no file there. Only the owner of the file can read it.
 *
 * @returns the number of records
 * @throws Failure when the file exists, or the platform refuses
 */
export async function exportAudit(connection: Connection, filter: AuditFilter, path: string): Promise<number> {
  assertNewFile(path)
  let count = 0
  async function* lines(): AsyncGenerator<string> {
    for await (const record of recordsOf(connection, filter)) {
      count++
      yield `${JSON.stringify(record)}\n`
    }
  }
  try {
    await writeContent(lines(), path, { isPrivate: true })
  } catch (cause) {
    if (path === '-' || cause instanceof Failure) throw cause
    throw failed(`Writing ${path} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  return count
}

async function* recordsOf({ list, profile }: Connection, { query, since }: AuditFilter): AsyncGenerator<AuditRecord> {
  const path = `/v1/admin/workspaces/${profile.workspaceId}/audit-records`
  for await (const record of list<AuditRecord>(path, 'records', { query })) {
    if (since && new Date(record.recordedAt) < since) return
    yield record
  }
}
