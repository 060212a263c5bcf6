import type { OwnLimits } from '../config/code-limits.ts'
import { query, type Database } from './database.ts'
import { disabledReason } from './disabled-code.ts'
import { withoutWaiting } from './complete-events.ts'
import type { EventRow, StateType } from '../models/tables.ts'

/**
 * A mailbox is the events of one conversation that wait to be handled, oldest first. An event's life:
 *
 *   pending ── claimed (attempt + 1) ── ended: processed, ignored or failed
 *      ▲                 │
 *      └── put back ◄────┘ the bot retries, or a run died: then whoever comes next claims it again
 *
 * A claim does not change the status: a run that dies leaves nothing to mend. The attempt is the fence: whatever is
 * written for a run is written only while its attempt is still the newest.
 *
 * Statements that know an event's id ask for `ended_at is null` and not for the status: the latter would offer the
 * partial indexes of waiting events to the planner, which takes them for smaller than they are.
 */

/**
 * An event may be claimed this long before it is due: its time is rounded to milliseconds, and the clock by which the
 * queue wakes a worker is not the database's. A claim refused for a moment would wait for the sweep.
 */
const earliness = `interval '50 milliseconds'`

/** A claimed event with everything that its run needs, fetched in one statement. */
export interface ClaimedEvent extends EventRow {
  version_id: string | null
  /** Why that version does not run any more; null when it does. */
  disabled_reason: string | null
  /** The bot's own limits. */
  limits: OwnLimits
  /** The bot's secrets, encrypted. */
  secrets: string | null
  /** The types of events that the bot hears of, as keys; null for all. */
  subscriptions: Record<string, unknown> | null
  message_type: string | null
  message_payload: Record<string, unknown> | null
  message_metadata: Record<string, unknown> | null
  message_tags: Record<string, string> | null
  conversation_tags: Record<string, string> | null
  user_tags: Record<string, string> | null
  states: StoredState[] | null
  /** Whether other events wait in the mailbox. */
  more: boolean
}

export interface StoredState {
  type: StateType
  name: string
  payload: Record<string, unknown>
}

/**
 * Claims the oldest event of each of some mailboxes. Undefined where none waits, or where the oldest is to wait a while
 * longer.
 *
 * Its states are looked up name by name (`limit 1`): a planner would rather read all states of a bot at once.
 */
export async function claimNextEvents(db: Database, mailboxes: string[]): Promise<(ClaimedEvent | undefined)[]> {
  const rows = await query<ClaimedEvent>(
    db,
    `with next as (
       select oldest.id from unnest(:mailboxes::text[]) as wanted (mailbox), lateral (
         select id from events
         where events.mailbox = wanted.mailbox and status = 'pending' order by created_at, id limit 1
       ) oldest
     ), claimed as (
       update events set attempt = attempt + 1, started_at = clock_timestamp()
       where id = any(array(select id from next)) and ended_at is null and available_at <= clock_timestamp() + ${earliness}
       returning events.*
     )
     select claimed.*, bots.version_id, ${disabledReason('bots.id', 'bots.version_id')} as disabled_reason,
       bots.limits, bots.secrets,
       bots.definition #> '{subscriptions,events}' as subscriptions, ${withoutWaiting},
       messages.type as message_type, messages.payload as message_payload,
       messages.metadata as message_metadata, messages.tags as message_tags,
       conversations.tags as conversation_tags, users.tags as user_tags,
       (
         select jsonb_agg(jsonb_build_object('type', type, 'name', name, 'payload', payload))
         from (values
           ('bot', claimed.bot_id, 'state'),
           ('user', claimed.user_id, 'state'),
           ('conversation', claimed.conversation_id, 'state'),
           ('conversation', claimed.conversation_id, 'session')
         ) as wanted (type, owner_id, name), lateral (
           select payload from states
           where states.bot_id = claimed.bot_id and states.type = wanted.type and states.owner_id = wanted.owner_id
             and states.name = wanted.name and states.installation_id is null
             and (expires_at is null or expires_at > now())
           limit 1
         ) found
       ) as states,
       exists (
         select from events other
         where other.mailbox = claimed.mailbox and other.status = 'pending' and other.id <> claimed.id
       ) as more
     from claimed
     join bots on bots.id = claimed.bot_id
     left join messages on messages.id = claimed.message_id
     left join conversations on conversations.id = claimed.conversation_id
     left join users on users.id = claimed.user_id`,
    // In one order everywhere, so that two workers never wait for each other's rows.
    { mailboxes: mailboxes.toSorted() },
  )
  const byMailbox = new Map(rows.map((row) => [row.mailbox, row]))
  return mailboxes.map((mailbox) => byMailbox.get(mailbox))
}

/**
 * Mailboxes with events that have been due for some time, and whose they are. Where a run has begun that may still be
 * under way, the mailbox goes on by itself.
 *
 * @param options `runMilliseconds` is how long a run is taken to be under way after its begin
 */
export async function forgottenMailboxes(
  db: Database,
  options: { waitedMilliseconds: number; runMilliseconds: number; limit: number },
): Promise<{ mailbox: string; bot_id: string }[]> {
  return query(
    db,
    `select mailbox, bot_id from events
     where status = 'pending'
       and available_at <= now() - :waitedMilliseconds::double precision * interval '1 millisecond'
     group by mailbox, bot_id
     having bool_and(coalesce(started_at < now() - :runMilliseconds::double precision * interval '1 millisecond', true))
     order by min(available_at) limit :limit`,
    options,
  )
}

/** The bots for which at least so many events wait, or some others, with their number. It reads all events that wait. */
export async function busyBots(
  db: Database,
  which: { least: number; or: string[] },
): Promise<{ bot_id: string; count: number }[]> {
  return query(
    db,
    `select bot_id, count(*)::integer as count from events where status = 'pending'
     group by bot_id having count(*) >= :least or bot_id = any(:or::text[])`,
    which,
  )
}
