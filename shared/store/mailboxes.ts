import type { OwnLimits } from '../config/code-limits.ts'
import { query, type Database } from './database.ts'
import { disabledReason } from './disabled-code.ts'
import { withoutWaiting } from './complete-events.ts'
import { actionTriggered } from '../models/event.ts'
import { flowStateName } from '../models/state.ts'
import type { EventRow, StateType } from '../models/tables.ts'

/**
 * A mailbox is the waiting events of one conversation, oldest first. An event's states:
 *
 *   pending ── claimed (attempt + 1) ── ended: processed, ignored or failed
 *      ▲                 │
 *      └── requeued ◄────┘ the code retries, or a run dies: the next worker claims it again
 *
 * A claim does not change the status: a run that dies leaves nothing to repair. The attempt is the fence: writes of a
 * run happen only while its attempt is the newest.
 *
 * Statements that know an event's id use the condition `ended_at is null` and not the status: with the latter, the
 * planner would consider the partial indexes of waiting events, which it takes for smaller than they are.
 */

/**
 * An event may be claimed this long before it is due: its time is rounded to milliseconds, and the clock of the queue
 * is not the database's. A claim that is refused by a moment would wait for the sweep.
 */
const clockTolerance = `interval '50 milliseconds'`

/**
 * Only an event that was run before waits: for the time of its retry. Where that run, or an event without one, has a time in the future,
 * the clock of the server has been set back, or another server has taken over: it would wait until the clock is there again.
 */
const isDue = `(available_at <= clock_timestamp() + ${clockTolerance} or started_at is null
  or started_at > clock_timestamp() + ${clockTolerance})`
/** A time that no statement which runs now has written. */
const future = `now() + interval '1 second'`

/**
 * SQL for the handover because of which no code handles an event. The first claim decides, and the row keeps the decision: a
 * run that began before the handover is repeated during it, and an event that came during it is not handled after it. The
 * caller of an action waits for its result, so actions run.
 */
const withheldBy = `case
  when attempt = 0 and installation_id is null and type <> '${actionTriggered}' then (
    select conversations.handover_id from conversations where conversations.id = events.conversation_id
  ) else events.handover_id end`

/** A claimed event with all data that its run needs, read in one statement. */
export interface ClaimedEvent extends EventRow {
  version_id: string | null
  /** Why that version is disabled; null when it runs. */
  disabled_reason: string | null
  /** The bot's own limits. */
  limits: OwnLimits
  /** Whether the event keeps what it asks language models. */
  keeps_prompts: boolean
  /** The address of the code of a bot under development; null for others. */
  url: string | null
  /** The bot's secrets, encrypted. */
  secrets: string | null
  /** The types of events that the bot subscribes to, as keys; null for all. */
  subscriptions: Record<string, unknown> | null
  message_type: string | null
  message_payload: Record<string, unknown> | null
  message_metadata: Record<string, unknown> | null
  message_tags: Record<string, string> | null
  conversation_tags: Record<string, string> | null
  user_tags: Record<string, string> | null
  states: StoredState[] | null
  /** Whether further events wait in the mailbox. */
  more: boolean
}

export interface StoredState {
  type: StateType
  name: string
  payload: Record<string, unknown>
}

/**
 * States are looked up name by name (`limit 1`): the planner would otherwise read all states of a bot at once. The
 * position in flows is there although its wait is over: the event that ends the wait comes later.
 */
const claimStatement = `
  with next as (
    select oldest.id from unnest(:mailboxes::text[]) as wanted (mailbox), lateral (
      select id from events
      where events.mailbox = wanted.mailbox and status = 'pending' order by created_at, id limit 1
    ) oldest
  ), claimed as (
    update events set attempt = attempt + 1, started_at = clock_timestamp(), handover_id = ${withheldBy}
    where id = any(array(select id from next)) and ended_at is null and ${isDue}
    returning events.*
  )
  select claimed.*, bots.version_id, ${disabledReason('bots.id', 'bots.version_id')} as disabled_reason,
    bots.limits, bots.keeps_prompts, bots.secrets, bots.url,
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
        ('conversation', claimed.conversation_id, 'session'),
        ('conversation', claimed.conversation_id, '${flowStateName}')
      ) as wanted (type, owner_id, name), lateral (
        select payload from states
        where states.bot_id = claimed.bot_id and states.type = wanted.type and states.owner_id = wanted.owner_id
          and states.name = wanted.name and states.installation_id is null
          and (expires_at is null or expires_at > now() or states.name = '${flowStateName}')
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
  left join users on users.id = claimed.user_id`

/** Claims the oldest event of each mailbox. Undefined when no event waits, or when the oldest is not due yet. */
export async function claimNextEvents(db: Database, mailboxes: string[]): Promise<(ClaimedEvent | undefined)[]> {
  // In a fixed order everywhere, so that two workers cannot deadlock.
  const rows = await query<ClaimedEvent>(db, claimStatement, { mailboxes: mailboxes.toSorted() })
  const byMailbox = new Map(rows.map((row) => [row.mailbox, row]))
  return mailboxes.map((mailbox) => byMailbox.get(mailbox))
}

/**
 * Mailboxes with overdue events, and their bots: of each bot the one that has waited longest, then of each the second, and so
 * on. A mailbox with a run that may still be in progress is left out, since
 * the run's worker continues it.
 *
 * @param options `runMilliseconds` is the time after its start in which a run may be in progress
 */
export async function overdueMailboxes(
  db: Database,
  options: { waitedMilliseconds: number; runMilliseconds: number; limit: number },
): Promise<{ mailbox: string; bot_id: string }[]> {
  return query(
    db,
    `select mailbox, bot_id from events
     where status = 'pending'
       and (available_at <= now() - :waitedMilliseconds::double precision * interval '1 millisecond'
         or started_at > ${future} or started_at is null and available_at > ${future})
     group by mailbox, bot_id
     having bool_and(coalesce(started_at > ${future}
       or started_at < now() - :runMilliseconds::double precision * interval '1 millisecond', true))
     order by row_number() over (partition by bot_id order by min(available_at)), min(available_at) limit :limit`,
    options,
  )
}

/**
 * The bots with at least `least` waiting events, and the bots of `or`, with the numbers of their events. Reads all
 * waiting events.
 */
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
