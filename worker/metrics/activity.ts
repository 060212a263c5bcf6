import type { Context } from '#shared/context.ts'
import { stepOf, type LatencyHistogram } from '#shared/telemetry/latency-histogram.ts'
import { addActivity, type BotActivity } from '#shared/store/activity.ts'
import type { OutcomeCounts } from '#shared/models/bot-health.ts'

/** Outcomes of bots' events, counted in this process and added to the database's counts periodically. */
export interface Activity {
  /**
   * Counts a run whose outcome is stored.
   *
   * @param took milliseconds of the run, and of the event's wait before it
   */
  ended(botId: string, outcome: keyof OutcomeCounts, took: { handling: number; waiting: number }): void
  /** Counts a job that was requeued because the bot had its share of the slots. */
  putBack(botId: string): void
  /** Stores the remaining counts. */
  close(): Promise<void>
}

/** A killed process loses the counts of this long; the events themselves are rows. */
const flushMilliseconds = 2000
/** Maximum of bots in one statement. */
const batchSize = 1000

/** Counting an event needs no statement; a flush is one statement per batch of bots. */
export function openActivity({ db, dependencies, log }: Context): Activity {
  let counts = new Map<string, BotActivity>()
  let flushing: Promise<void> | undefined

  function of(botId: string): BotActivity {
    const known = counts.get(botId)
    if (known) return known
    const fresh = {
      botId,
      processed: 0,
      failed: 0,
      ignored: 0,
      retried: 0,
      putBack: 0,
      handling: {},
      waiting: {},
    }
    counts.set(botId, fresh)
    return fresh
  }

  async function flush(): Promise<void> {
    if (counts.size === 0 || !dependencies.database.isUp()) return
    const counted = Array.from(counts.values())
    counts = new Map()
    for (let index = 0; index < counted.length; index += batchSize) {
      await addActivity(db, counted.slice(index, index + batchSize))
    }
  }

  const flushNow = () =>
    (flushing ??= flush()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'Storing the counts of event outcomes failed; the counts are lost'),
      )
      .finally(() => (flushing = undefined)))
  const timer = setInterval(() => void flushNow(), flushMilliseconds)

  return {
    ended(botId, outcome, { handling, waiting }) {
      const activity = of(botId)
      activity[outcome] += 1
      count(activity.handling, handling)
      count(activity.waiting, waiting)
    },
    putBack(botId) {
      of(botId).putBack += 1
    },
    async close() {
      clearInterval(timer)
      await flushing
      await flushNow()
    },
  }
}

function count(counts: LatencyHistogram, milliseconds: number): void {
  const step = stepOf(milliseconds)
  counts[step] = (counts[step] ?? 0) + 1
}
