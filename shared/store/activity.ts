import type { LatencyHistogram } from '../telemetry/latency-histogram.ts'
import { query, type Database } from './database.ts'
import type { OutcomeCounts, ActivityRow } from '../models/bot-health.ts'

/** A worker's counts for one bot since its last write. */
export interface BotActivity extends OutcomeCounts {
  botId: string
  /** Wake-ups that were requeued because the bot had used its share of the worker's slots. */
  putBack: number
  /** The durations of runs, and the waiting times of events before them. */
  handling: LatencyHistogram
  waiting: LatencyHistogram
}

/** The periods by which activity is kept, in seconds, with their retention in milliseconds. */
export const activityPeriods = [
  // Somewhat longer than the longest view by minutes.
  { seconds: 60, milliseconds: 2 * 3600 * 1000 },
  { seconds: 900, milliseconds: 8 * 24 * 3600 * 1000 },
] as const
export type ActivitySeconds = (typeof activityPeriods)[number]['seconds']

/** SQL that adds the histograms of two rows. */
function sumOf(column: string): string {
  return `(
    select coalesce(jsonb_object_agg(key, count), '{}') from (
      select key, sum(value::integer) as count from (
        select * from jsonb_each_text(kept.${column}) union all select * from jsonb_each_text(excluded.${column})
      ) both_rows group by key
    ) summed
  )`
}

/**
 * Adds counts to those of the present periods. Rows are updated in a fixed order, so that two workers cannot deadlock.
 */
export async function addActivity(db: Database, counted: BotActivity[]): Promise<void> {
  await query(
    db,
    `insert into bot_activity as kept
       (bot_id, seconds, at, processed, failed, ignored, retried, put_back, handling, waiting)
     select "botId", seconds, to_timestamp(floor(extract(epoch from now()) / seconds) * seconds),
       processed, failed, ignored, retried, "putBack", handling, waiting
     from jsonb_to_recordset(:counted) as given ("botId" text, processed integer, failed integer, ignored integer,
       retried integer, "putBack" integer, handling jsonb, waiting jsonb),
       (values ${activityPeriods.map(({ seconds }) => `(${seconds})`).join()}) as period (seconds)
     order by "botId", seconds
     on conflict (bot_id, seconds, at) do update set
       processed = kept.processed + excluded.processed, failed = kept.failed + excluded.failed,
       ignored = kept.ignored + excluded.ignored, retried = kept.retried + excluded.retried,
       put_back = kept.put_back + excluded.put_back,
       handling = ${sumOf('handling')}, waiting = ${sumOf('waiting')}`,
    { counted: JSON.stringify(counted) },
  )
}

/** The activity of some bots since a moment, in order of time; periods without events have no row. */
export async function activityOf(
  db: Database,
  which: { botIds: string[]; from: Date; seconds: ActivitySeconds },
): Promise<ActivityRow[]> {
  return query<ActivityRow>(
    db,
    `select * from bot_activity
     where bot_id = any(:botIds::text[]) and seconds = :seconds and at >= :from
     order by bot_id, at`,
    which,
  )
}

/**
 * Deletes the oldest counts. @returns the number of deleted rows for the period length that had the most, at most the
 * limit
 */
export async function deleteOldActivity(db: Database, limit: number): Promise<number> {
  let most = 0
  for (const { seconds, milliseconds } of activityPeriods) {
    const rows = await query(
      db,
      `delete from bot_activity where (bot_id, seconds, at) in (
         select bot_id, seconds, at from bot_activity
         where seconds = :seconds and at < now() - :milliseconds::double precision * interval '1 millisecond'
         order by at limit :limit
       ) returning bot_id`,
      { seconds, milliseconds, limit },
    )
    most = Math.max(most, rows.length)
  }
  return most
}
