import { eventInsert } from './insert-rows.ts'
import { query, type Database } from './database.ts'
import { storable } from './complete-events.ts'
import { schedules, type InstallationRow, type InstallationStatus, type Schedule } from '../models/tables.ts'

/**
 * When an installed integration's `register()` is called by schedule. A schedule's life:
 *
 *   set: next_register_at is null ── worked out ── due: a `register` event, and the next time, in one transaction
 *                 ▲                      │ ▲                            │
 *   clock put back: further away than    │ └────────────────────────────┘
 *   a period ─────┴──────────────────────┘
 *
 * Every time is the database's, the one clock that all workers share.
 */

/** What may be configured of an installation; what is absent stays, null takes it away. */
export interface IntegrationConfiguration {
  identifier?: string | null
  schedule?: Schedule
  sandboxIdentifiers?: Record<string, never> | null
}

/**
 * Configures an installed integration. The schedule that it has already goes on as it was; another begins now, and its
 * next time is to be worked out.
 *
 * @returns false when there is no such installation (any more)
 * @throws Error, a unique violation, when another installation of the integration has the identifier
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
        // Rounded, it could lie ahead of the clock, and the schedule would be due as soon as it is set.
        schedule_from: db.raw(`case when schedule = ? then schedule_from else date_trunc('milliseconds', now()) end`, [
          schedule,
        ]),
        next_register_at: db.raw('case when schedule = ? then next_register_at end', [schedule]),
      }),
      updated_at: db.fn.now(3),
    })
  return updated > 0
}

/** An installation whose `register()` is due, or whose next time is not worked out. */
export interface ScheduledRegistration extends Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'> {
  schedule: Schedule
  schedule_from: Date
  is_due: boolean
  now: Date
}

/**
 * Takes some installations whose `register()` is due or whose next time is not worked out, until the transaction ends.
 * What another worker has taken is passed over.
 *
 * @param id of the only one that is of interest; all unless given
 */
export async function takeScheduledRegistrations(
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
  // Whoever deletes a bot takes it and then its installations. To wait for the bot, with these in hand, could be for ever.
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
})

/** A taken installation, its next time, and the event to be made where it is due. */
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
 * Stores the next times, and the events of what is due. An event that waits or runs already does for this time too.
 *
 * @returns the installations with a new event, and whose they are
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
 * Has the next time worked out anew where it is further away than a period lasts: it was set by a clock that has been
 * put back since.
 *
 * @param longestPeriods in milliseconds
 * @param limit of installations of each schedule
 */
export async function forgetImpossibleTimes(
  db: Database,
  longestPeriods: Record<Schedule, number>,
  limit: number,
): Promise<void> {
  await query(
    db,
    // Schedule by schedule from the furthest time on, so that it reads of an index what it changes and no more.
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

/** What an integration is asked to do where it is installed: set up what it needs, or take that down. */
export type RegistrationType = 'register' | 'unregister'

export interface NewRegistration {
  id: string
  type: RegistrationType
  botId: string
  installationId: string
  webhookUrl: string
}

/** Stores the event that has an installed integration called, after what waits for it already. */
export async function insertRegistration(db: Database, registration: NewRegistration): Promise<void> {
  const { id, type, botId, installationId, webhookUrl } = registration
  await db('events').insert({
    id,
    type,
    bot_id: botId,
    mailbox: installationId,
    installation_id: installationId,
    payload: { webhookUrl },
  })
}

/**
 * Has every installation of an integration register again that is switched on, because its code has changed. One whose
 * registration waits already needs no other; one that is just being registered may run the former code.
 *
 * @returns the installations, for which events are to be stored
 */
export async function beginRegistrations(
  transaction: Database,
  integrationId: string,
): Promise<Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'>[]> {
  // Whoever deletes a bot takes it and then its installations: in the same order nobody waits for ever.
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

/** The run of a registration that is about to end, and what comes of it. */
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
 * Shows on an installation how a registration went. One by schedule that failed is due again after a minute, and after
 * twice the time before with each further failure, or at its next regular time if that comes first.
 *
 * @returns the installation; undefined, and nothing written, when a newer run has taken the event over
 */
export async function endRegistration(db: Database, end: RegistrationEnd): Promise<InstallationRow | undefined> {
  const [row] = await query<InstallationRow>(
    db,
    `update installations set
       -- The integration is asked to unregister next: that stands.
       status = case when :type = 'register' and status = 'unregistration_pending' then status else :status end,
       status_reason = :statusReason,
       register_failures = case when :status = 'registration_failed' then register_failures + 1 else 0 end,
       next_register_at = case when :status <> 'registration_failed' or schedule is null then next_register_at
         else least(next_register_at, clock_timestamp() + interval '1 minute' * 2 ^ least(register_failures, 20)) end
     where id = :installationId and bot_id = :botId and exists (
       select from events where events.id = :eventId and attempt = :attempt and ended_at is null
     )
     returning *`,
    { ...end, statusReason: end.statusReason && storable(end.statusReason) },
  )
  return row
}
