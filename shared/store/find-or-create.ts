import { query, type Database } from './database.ts'

/**
 * Gives a row that exists, or creates it. Of several who ask for the same at the same time, one creates it and the
 * others find it.
 *
 * @param key the same for all who ask for the same
 */
export async function findOrCreate<Found, Created>(
  db: Database,
  key: unknown[],
  work: { find(db: Database): Promise<Found | undefined>; create(db: Database): Promise<Created> },
): Promise<{ row: Found; created: false } | { row: Created; created: true }> {
  const existing = await work.find(db)
  if (existing) return { row: existing, created: false }
  return db.transaction(async (transaction) => {
    // Held until the end of the transaction, so that whoever waited for it sees what this one has created.
    await query(transaction, `select pg_advisory_xact_lock(hashtextextended(:key, 0))`, { key: JSON.stringify(key) })
    const other = await work.find(transaction)
    if (other) return { row: other, created: false }
    return { row: await work.create(transaction), created: true }
  })
}
