import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection, Query } from '../connection.ts'
import { failed, Failure } from '../failure.ts'

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
  let count = 0
  async function* lines(): AsyncGenerator<string> {
    for await (const record of recordsOf(connection, filter)) {
      count++
      yield `${JSON.stringify(record)}\n`
    }
  }
  if (path === '-') {
    await pipeline(lines, process.stdout, { end: false })
    return count
  }
  if (existsSync(path)) throw failed(`${path} exists: name a new file`)
  const draft = `${path}.${process.pid}.part`
  try {
    await pipeline(lines, createWriteStream(draft, { flags: 'wx', mode: 0o600 }))
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true })
    if (cause instanceof Failure) throw cause
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
