import { query, type Database } from './database.ts'

/** Adds to a bot's counter of a name for the present day, in UTC. */
export async function addToAnalytics(db: Database, botId: string, name: string, count: number): Promise<void> {
  await query(
    db,
    `insert into analytics as kept (bot_id, name, day, count)
     values (:botId, :name, (now() at time zone 'UTC')::date, :count)
     on conflict (bot_id, name, day) do update set count = kept.count + excluded.count`,
    { botId, name, count },
  )
}
