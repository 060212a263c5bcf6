import type { Database } from './database.ts'
import { query } from './database.ts'

/** Whether the database has trigrams (`pg_trgm`), which the release creates where it may. */
export async function hasTrigrams(db: Database): Promise<boolean> {
  const [row] = await query<{ has: boolean }>(db, `select to_regproc('word_similarity') is not null as has`, {})
  return row!.has
}
