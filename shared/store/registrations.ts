import { postgresCode, uniqueViolation } from '../errors.ts'
import { eventInsert } from './insert-rows.ts'
import { query, transact, type Database } from './database.ts'
import { storableText } from '../models/storable.ts'
import { schedules, type InstallationRow, type InstallationStatus, type Schedule } from '../models/tables.ts'

/**
 * The times at which an installed integration's `register()` is called by schedule. A schedule's states:
 *
 *   set: next_register_at is null ── computed ── due: a `register` event, and the next time, in one transaction
 *                 ▲                      │ ▲                           │
 *   clock set back: further ahead than   │ └───────────────────────────┘
 *   a period ─────┴──────────────────────┘
 *
 * Every time is by the database's clock, which all workers share.
 */

/** Upper bound of attempts to take an identifier that other installations take meanwhile. */
const maxTakings = 3

/** The configurable fields of an installation; absent ones stay, null removes one. */
export interface IntegrationConfiguration {
  identifier?: string | null
  schedule?: Schedule
  sandboxIdentifiers?: Record<string, never> | null
}

/**
 * Configures an installed integration. An unchanged schedule continues; another one begins now, and its next time is to
 * be computed.
 *
 * @returns false when the installation does not exist
 * @throws Error, a unique violation, when another installation of the integration, in any version, has the identifier
 */
export async function configureInstalledIntegration(
  db: Database,
  { botId, id }: { botId: string; id: string },
  { identifier, schedule, sandboxIdentifiers }: IntegrationConfiguration,
): Promise<boolean> {
  const updated = await db('installations')
    .where({ bot_id: botId, id })
    .whereNotNull('integration_id')
    .update({
      ...(identifier !== undefined && { identifier }),
      ...(sandboxIdentifiers !== undefined && { sandbox_identifiers: sandboxIdentifiers }),
      ...(schedule !== undefined && {
        schedule,
        // Rounding could put the time ahead of the clock, and the schedule would be due as soon as it is set.
        schedule_from: db.raw(`case when schedule = ? then schedule_from else date_trunc('milliseconds', now()) end`, [
          schedule,
        ]),
        next_register_at: db.raw('case when schedule = ? then next_register_at end', [schedule]),
      }),
      updated_at: db.fn.now(3),
    })
  return updated > 0
}

/**
 * Gives an installation an identifier that it has proved to be its own, and takes it from the one that had it.
 *
 * @returns the webhook ids of the installations that changed
 */
export async function takeIdentifier(
  db: Database,
  own: { botId: string; id: string },
  identifier: string,
): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(db, (transaction) => moveIdentifier(transaction, own, identifier))
    } catch (error) {
      // Another installation has taken it since this one looked.
      if (postgresCode(error) !== uniqueViolation || attempt === maxTakings) throw error
    }
  }
}

async function moveIdentifier(
  transaction: Database,
  { botId, id }: { botId: string; id: string },
  identifier: string,
): Promise<string[]> {
  const former = await query<{ webhook_id: string }>(
    transaction,
    `update installations former set identifier = null, updated_at = now()
     from installations own
     where own.id = :id and own.bot_id = :botId and former.id <> own.id and former.identifier = :identifier
       and former.integration = own.integration and former.integration_workspace_id = own.integration_workspace_id
     returning former.webhook_id`,
    { id, botId, identifier },
  )
  const own = await query<{ webhook_id: string }>(
    transaction,
    `update installations set identifier = :identifier, updated_at = now() where id = :id and bot_id = :botId
     returning webhook_id`,
    { id, botId, identifier },
  )
  return [...former, ...own].map(({ webhook_id: webhookId }) => webhookId)
}

/** An installation whose `register()` is due, or whose next time is not computed. */
export interface ScheduledRegistration extends Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'> {
  schedule: Schedule
  schedule_from: Date
  is_due: boolean
  now: Date
}

/**
 * Locks some installations whose `register()` is due or whose next time is not computed, until the transaction ends.
 * Installations that another worker has locked are skipped.
 *
 * @param id restricts the result to one installation
 */
export async function claimScheduledRegistrations(
  transaction: Database,
  limit: number,
  id?: string,
): Promise<ScheduledRegistration[]> {
  const taken = await query<ScheduledRegistration>(
    transaction,
    `select id, bot_id, webhook_id, schedule, schedule_from, next_register_at is not null as is_due, now()
     from installations
     where schedule = any(:schedules::text[]) and (next_register_at is null or next_register_at <= now())
       and enabled and status in ('registration_pending', 'registered', 'registration_failed')
       and (:id::text is null or id = :id)
     order by next_register_at limit :limit
     for no key update skip locked`,
    { schedules: [...schedules], limit, id: id ?? null },
  )
  if (taken.length === 0) return []
  // A deletion locks a bot and then its installations. Waiting for the bot here, with these installations locked, could
  // deadlock.
  const bots = await query<{ id: string }>(
    transaction,
    'select id from bots where id = any(:botIds::text[]) for key share skip locked',
    { botIds: [...new Set(taken.map(({ bot_id: botId }) => botId))] },
  )
  const present = new Set(bots.map(({ id }) => id))
  return taken.filter(({ bot_id: botId }) => present.has(botId))
}

const registration = eventInsert({
  id: '"eventId"',
  bot_id: 'bot_id',
  mailbox: 'planned.id',
  installation_id: 'planned.id',
  type: `'register'`,
  payload: `jsonb_build_object('webhookUrl', "webhookUrl")`,
  created_at: 'clock_timestamp()',
})

/** A locked installation, its next time, and the event to store when it is due. */
export interface PlannedRegistration {
  installationId: string
  isDue: boolean
  nextTime: Date
  eventId: string
  webhookUrl: string
}

interface Registering {
  installation_id: string
  bot_id: string
}

/**
 * Stores the next times, and the events of due installations. An event that already waits or runs replaces a new one.
 *
 * @returns the installations with a new event, and their bots
 */
export async function planRegistrations(transaction: Database, planned: PlannedRegistration[]): Promise<Registering[]> {
  return query<Registering>(
    transaction,
    `with given as (
       select * from jsonb_to_recordset(:planned) as given
         ("installationId" text, "isDue" boolean, "nextTime" timestamptz, "eventId" text, "webhookUrl" text)
     ), planned as (
       update installations set next_register_at = given."nextTime" from given where id = given."installationId"
       returning id, bot_id
     )
     ${registration}
     from planned join given on given."installationId" = planned.id
     where "isDue" and not exists (
       select from events other where other.mailbox = planned.id and other.status = 'pending' and other.type = 'register'
     )
     returning installation_id, bot_id`,
    { planned: JSON.stringify(planned) },
  )
}

/**
 * Clears next times that are further ahead than a period, so that they are computed again: they were set by a clock
 * that has been set back since.
 *
 * @param longestPeriods in milliseconds
 * @param limit upper bound of the installations per schedule
 */
export async function clearImpossibleTimes(
  db: Database,
  longestPeriods: Record<Schedule, number>,
  limit: number,
): Promise<void> {
  await query(
    db,
    // Per schedule from the furthest time on, so that only the changed part of an index is read.
    `update installations set next_register_at = null where id in (
       select furthest.id from jsonb_each_text(:longestPeriods) as period (schedule, milliseconds), lateral (
         select id from installations
         where installations.schedule = period.schedule
           and next_register_at > now() + period.milliseconds::double precision * interval '1 millisecond'
         order by next_register_at desc limit :limit
       ) furthest
     )`,
    { longestPeriods: JSON.stringify(longestPeriods), limit },
  )
}

/** The request to an integration where it is installed: set up its resources, or remove them. */
export type RegistrationType = 'register' | 'unregister'

export interface NewRegistration {
  id: string
  type: RegistrationType
  botId: string
  installationId: string
  webhookUrl: string
}

/** Stores the event that calls an installed integration, after the installation's waiting events. */
export async function insertRegistration(db: Database, registration: NewRegistration): Promise<void> {
  const { id, type, botId, installationId, webhookUrl } = registration
  await db('events').insert({
    id,
    type,
    bot_id: botId,
    mailbox: installationId,
    installation_id: installationId,
    payload: { webhookUrl },
    // The transaction may have begun before that of an event which it has waited for.
    created_at: db.raw('clock_timestamp()'),
  })
}

/**
 * Registers every enabled installation of an integration again, because its code has changed. An installation whose
 * registration already waits is skipped; one whose registration runs is not, since the run may use the former code.
 *
 * @returns the installations for which events are to be stored
 */
export async function beginRegistrations(
  transaction: Database,
  integrationId: string,
): Promise<Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'>[]> {
  // A deletion locks a bot and then its installations; the same order here prevents deadlocks.
  await query(
    transaction,
    `select id from bots where id in (select bot_id from installations where integration_id = :integrationId)
     order by id for key share`,
    { integrationId },
  )
  return query(
    transaction,
    `update installations set status = 'registration_pending', status_reason = null
     where integration_id = :integrationId and enabled
       and status in ('registration_pending', 'registered', 'registration_failed')
       and not exists (
         select from events other
         where other.mailbox = installations.id and other.status = 'pending' and other.type = 'register'
           and other.started_at is null
       )
     returning id, bot_id, webhook_id`,
    { integrationId },
  )
}

/** The outcome of a registration's run. */
export interface RegistrationEnd {
  eventId: string
  attempt: number
  type: RegistrationType
  botId: string
  installationId: string
  status: InstallationStatus
  statusReason: string | null
}

/**
 * Stores the outcome of a registration in its installation. After a failure by schedule, the next call is due after a
 * minute, and after twice the former delay for each further failure, or at the next regular time if that is earlier.
 *
 * @returns the installation; undefined, with nothing written, when a newer run has claimed the event
 */
export async function endRegistration(db: Database, end: RegistrationEnd): Promise<InstallationRow | undefined> {
  const [row] = await query<InstallationRow>(
    db,
    `update installations set
       -- What the integration is asked for next stands.
       status = case
         when not is_last then status
         -- That may have been stored while this statement waited for the row.
         when :type = 'register' and status = 'unregistration_pending' then status
         when :type = 'unregister' and status = 'registration_pending' then status
         else :status
       end,
       status_reason = :statusReason,
       register_failures = case when :status = 'registration_failed' then register_failures + 1 else 0 end,
       next_register_at = case when :status <> 'registration_failed' or schedule is null then next_register_at
         else least(next_register_at, clock_timestamp() + interval '1 minute' * 2 ^ least(register_failures, 20)) end
     from (
       -- An installation that is to be removed is deleted after its last unregister().
       select not exists (
         select from events later where later.mailbox = :installationId and later.status = 'pending' and later.id <> :eventId
           and later.type in ('register', 'unregister')
       ) as is_last
     ) requests
     where id = :installationId and bot_id = :botId and exists (
       select from events where events.id = :eventId and attempt = :attempt and ended_at is null
     )
     returning installations.*`,
    { ...end, statusReason: end.statusReason && storableText(end.statusReason) },
  )
  return row
}
