import type { Database } from '../store/database.ts'
import { waitingByBot } from '../store/bot-health.ts'
import type { WaitingRow } from '../models/bot-health.ts'

/** Upper bound of the share of time spent on snapshots, for any number of readers. */
const partOfTime = 1 / 10

interface Look {
  found: Promise<Map<string, WaitingRow>>
  /** End of its validity, by `performance.now()`. */
  until: number
}

const lastLooks = new WeakMap<Database, Look>()

/**
 * The backlog of each bot of the platform. A snapshot reads all waiting events, so all readers in this process share it
 * for ten times as long as it took.
 */
export async function backlogSnapshot(db: Database): Promise<Map<string, WaitingRow>> {
  const last = lastLooks.get(db)
  if (last && performance.now() < last.until) return last.found
  const begin = performance.now()
  const look: Look = { found: waitingByBot(db), until: Infinity }
  lastLooks.set(db, look)
  try {
    await look.found
    const end = performance.now()
    look.until = end + (end - begin) / partOfTime
  } catch {
    look.until = 0
  }
  return look.found
}
