import { query, type Database } from './database.ts'

/**
 * The numbers of messages in conversations. A long conversation has a row with the number of its messages up to a time, and
 * only later ones are counted when the number is read (docs/decisions/0122). Triggers change the row when messages before that
 * time are deleted or imported; a new message is always later.
 */

/** Messages that are counted before the row moves forward. */
const maxUncounted = 1000

const countOf = (column: string) => `(select ${column} from message_counts where conversation_id = conversations.id)`

/** SQL for the `CountedRow` of a `conversations` row. */
export const countColumns = `
  coalesce(${countOf('counted')}, 0) + (
    select count(*) from messages
    where conversation_id = conversations.id and created_at > coalesce(${countOf('counted_until')}, '-infinity')
  )::integer as message_count,
  coalesce(${countOf('counted')}, 0) as counted`

/** The columns of a conversation with its number of messages. */
export interface CountedRow {
  id: string
  message_count: number
  /** Those of them that need not be counted again. */
  counted: number
}

/**
 * Spares later reads the counting of many messages, when these rows have required it. A failure ends the attempt and nothing
 * else: the rows have their numbers already, and a later read tries again. A transaction leaves it to later reads, because it
 * would hold the lock until its end.
 */
export async function keepCounts(db: Database, rows: CountedRow[]): Promise<void> {
  if (db.isTransaction) return
  const long = rows.filter(({ message_count: count, counted }) => count - counted > maxUncounted)
  try {
    for (const { id } of long) await db.transaction((transaction) => keepCount(transaction, id))
  } catch {
    // The cause concerns the count alone, such as a database that only reads; outages are reported by the next statement.
  }
}

/**
 * Counts the messages of a conversation up to a time. New messages are never before the conversation's clock, and so are not
 * before that time. The lock excludes transactions that import or delete messages of the bot; it is taken in a statement before
 * the one that counts, whose snapshot thereby has all that they did. It is not waited for, and a lock of the table briefly.
 */
export async function keepCount(transaction: Database, id: string): Promise<void> {
  const [locked] = await query<{ mine: boolean }>(
    transaction,
    `select pg_try_advisory_xact_lock(hashtext('message counts'), hashtext(bot_id)) as mine,
       set_config('lock_timeout', '200ms', true)
     from conversations where id = :id for key share skip locked`,
    { id },
  )
  if (!locked?.mine) return
  await query(
    transaction,
    `insert into message_counts (conversation_id, counted, counted_until)
     select id, coalesce(former.counted, 0) + (
       select count(*) from messages
       where conversation_id = :id and created_at > coalesce(former.counted_until, '-infinity') and created_at <= until
     ), until
     from conversations left join message_counts former on former.conversation_id = id,
       lateral (select least(clock, clock_timestamp() - interval '1 minute')::timestamptz(3) as until) present
     where id = :id and until > coalesce(former.counted_until, '-infinity')
     on conflict (conversation_id) do update
     set counted = excluded.counted, counted_until = excluded.counted_until`,
    { id },
  )
}
