import { flowEvents } from '../models/event.ts'
import { maxNamesOfDay, type DayCounts } from '../models/bot-day.ts'
import { query, type Database } from './database.ts'

const within = 'created_at >= :from and created_at < :until'

/** Counts the rows of one day, by indexes of the bot and the time. */
const countDay = `
  select (select count(*)::integer from users where bot_id = :botId and ${within} and id <> :botId) as "newUsers",
    written.*,
    (
      select count(*)::integer from messages where bot_id = :botId and ${within} and direction = 'outgoing'
    ) as "botMessages",
    of_types.*
  from (
    select coalesce(sum(events), 0)::integer as events,
      coalesce(jsonb_object_agg(type, events) filter (where place <= ${maxNamesOfDay}), '{}') as "eventTypes"
    from (
      select type, count(*) as events, row_number() over (order by count(*) desc, type) as place from events
      where bot_id = :botId and ${within} and type <> all (:internal::text[]) group by type
    ) counted
  ) of_types, (
    select count(distinct conversation_id)::integer as sessions, coalesce(sum(messages), 0)::integer as "userMessages",
      count(distinct user_id) filter (where users.created_at < :from)::integer as "returningUsers"
    from (
      select conversation_id, user_id, count(*) as messages from messages
      where bot_id = :botId and ${within} and direction = 'incoming' group by conversation_id, user_id
    ) of_users left join users on users.id = of_users.user_id
  ) written`

/**
 * Counts what happened to a bot on each of some days. A day that is over is counted once, and its counts are kept: to count
 * a day takes as long as its messages are many (docs/decisions/0065).
 *
 * @param days in order, as `2026-11-23`
 */
export async function countDays(db: Database, botId: string, days: string[]): Promise<Map<string, DayCounts>> {
  const period = { botId, first: days[0]!, last: days.at(-1)! }
  const rows = await query<{ day: string; counts: DayCounts }>(
    db,
    `select day::text, counts from bot_days where bot_id = :botId and day between :first::date and :last::date`,
    period,
  )
  const counted = new Map(rows.map(({ day, counts }) => [day, counts]))
  for (const day of days) if (!counted.has(day)) counted.set(day, await countAndKeep(db, botId, day))
  for (const { day, customEvents } of await customEventsOf(db, period)) {
    counted.set(day, { ...counted.get(day)!, customEvents })
  }
  return counted
}

const dayMilliseconds = 24 * 3600 * 1000

async function countAndKeep(db: Database, botId: string, day: string): Promise<DayCounts> {
  const from = new Date(day)
  const until = new Date(from.getTime() + dayMilliseconds)
  const [counts] = await query<DayCounts>(db, countDay, { botId, from, until, internal: [...flowEvents] })
  // A transaction that began on the day may commit its rows a little later.
  await query(
    db,
    `insert into bot_days (bot_id, day, counts) select :botId, :day::date, :counts
     where now() > :until::timestamptz + interval '10 minutes' on conflict do nothing`,
    { botId, day, until, counts: JSON.stringify(counts) },
  )
  return counts!
}

async function customEventsOf(
  db: Database,
  period: { botId: string; first: string; last: string },
): Promise<{ day: string; customEvents: Record<string, number> }[]> {
  return query(
    db,
    `select day::text, jsonb_object_agg(name, count) as "customEvents" from (
       select day, name, count, row_number() over (partition by day order by count desc, name) as place from analytics
       where bot_id = :botId and day between :first::date and :last::date
     ) placed where place <= ${maxNamesOfDay} group by day`,
    period,
  )
}
