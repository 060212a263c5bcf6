import { query, type Database } from './database.ts'

/**
 * Finds a row or creates it. Of several concurrent callers, one creates the row and the others find it.
 *
 * @param key equal for all callers that want the same row
 */
export async function findOrCreate<Found, Created>(
  db: Database,
  key: unknown[],
  work: { find(db: Database): Promise<Found | undefined>; create(db: Database): Promise<Created> },
): Promise<{ row: Found; created: false } | { row: Created; created: true }> {
  const existing = await work.find(db)
  if (existing) return { row: existing, created: false }
  return db.transaction(async (transaction) => {
    // Held until the transaction ends, so that a waiting caller sees the row that this one creates.
    await query(transaction, `select pg_advisory_xact_lock(hashtextextended(:key, 0))`, { key: JSON.stringify(key) })
    const other = await work.find(transaction)
    if (other) return { row: other, created: false }
    return { row: await work.create(transaction), created: true }
  })
}
