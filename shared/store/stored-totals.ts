import { query, type Database } from './database.ts'

/** The stored sizes of all bots together; counters make it cheap to read. */
export interface StoredTotals {
  files: number
  fileBytes: number
  tables: number
  tableRows: number
}

export async function readStoredTotals(db: Database): Promise<StoredTotals> {
  const [row] = await query<Record<keyof StoredTotals, string>>(
    db,
    `select (select coalesce(sum(files), 0) from file_usage) as "files",
       (select coalesce(sum(bytes), 0) from file_usage) as "fileBytes",
       (select count(*) from bot_tables) as "tables",
       (select coalesce(sum(row_count), 0) from bot_tables) as "tableRows"`,
    {},
  )
  const { files, fileBytes, tables, tableRows } = row!
  return { files: Number(files), fileBytes: Number(fileBytes), tables: Number(tables), tableRows: Number(tableRows) }
}

/** The files that wait to be indexed, and for how long the first one has waited. */
export async function readIndexingBacklog(db: Database): Promise<{ files: number; oldestSeconds: number }> {
  const [row] = await query<{ files: number; oldest: number | null }>(
    db,
    `select count(*)::integer as files, extract(epoch from now() - min(updated_at))::float8 as oldest
     from files where status = 'indexing_pending'`,
    {},
  )
  return { files: row!.files, oldestSeconds: Math.max(0, row!.oldest ?? 0) }
}

/** The handovers in progress of all bots, and the age of the oldest one that no member has taken. */
export async function readOpenHandovers(
  db: Database,
): Promise<{ pending: number; assigned: number; oldestPendingSeconds: number }> {
  const [row] = await query<{ pending: number; assigned: number; oldest: number | null }>(
    db,
    `select count(*) filter (where status = 'pending')::integer as pending,
       count(*) filter (where status = 'assigned')::integer as assigned,
       extract(epoch from now() - min(created_at) filter (where status = 'pending'))::float8 as oldest
     from handovers where ended_at is null`,
    {},
  )
  const { pending, assigned, oldest } = row!
  return { pending, assigned, oldestPendingSeconds: Math.max(0, oldest ?? 0) }
}
