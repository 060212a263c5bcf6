import type { Database } from '../store/database.ts'
import { waitingByBot } from '../store/bot-health.ts'
import type { WaitingRow } from '../models/bot-health.ts'

/** Upper bound of the share of time spent on snapshots, for any number of readers. */
const partOfTime = 1 / 10

interface Snapshot {
  found: Promise<Map<string, WaitingRow>>
  /** End of its validity, by `performance.now()`. */
  until: number
}

const lastSnapshots = new WeakMap<Database, Snapshot>()

/**
 * The backlog of each bot of the platform. A snapshot reads all waiting events, so all readers in this process share it
 * for ten times as long as it took.
 */
export async function backlogSnapshot(db: Database): Promise<Map<string, WaitingRow>> {
  const last = lastSnapshots.get(db)
  if (last && performance.now() < last.until) return last.found
  const begin = performance.now()
  const snapshot: Snapshot = { found: waitingByBot(db), until: Infinity }
  lastSnapshots.set(db, snapshot)
  try {
    await snapshot.found
    const end = performance.now()
    snapshot.until = end + (end - begin) / partOfTime
  } catch {
    snapshot.until = 0
  }
  return snapshot.found
}
