import type { Database } from '../store/database.ts'
import { waitingByBot } from '../store/bot-health.ts'
import type { WaitingRow } from '../models/bot-health.ts'

/** Looks may take this part of the time, however many people look. */
const partOfTime = 1 / 10

interface Look {
  found: Promise<Map<string, WaitingRow>>
  /** Until when it is taken for new, as `performance.now()` has it. */
  until: number
}

const lastLooks = new WeakMap<Database, Look>()

/**
 * How much waits for each bot of the platform. A look reads all events that wait, so it is shared by all who ask this
 * process while it is new: for ten times as long as it took.
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
