import { wakeWorker } from '../signals/after-commit.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import { nextTime } from './register-schedule.ts'
import type { EventCompletion, EventLogLine } from '../store/complete-events.ts'
import type { Database } from '../store/database.ts'
import {
  beginRegistrations,
  endRegistration,
  insertRegistration,
  planRegistrations,
  claimScheduledRegistrations,
  type NewRegistration,
  type RegistrationType,
} from '../store/registrations.ts'
import type { EventRow, InstallationRow, InstallationStatus } from '../models/tables.ts'

/** Installations that one transaction plans. */
const batchSize = 100

/** The webhook URL of an installed integration. */
export function integrationWebhookUrl({ http }: Config, webhookId: string): string {
  return `${http.baseUrl}/webhooks/${webhookId}`
}

/**
 * An event that calls `register` or `unregister` of an installed integration. `insertRegistration` stores it; a job
 * named `register` wakes a worker for it.
 */
export function newRegistration(
  config: Config,
  installation: Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'>,
  type: RegistrationType = 'register',
): NewRegistration {
  return {
    id: newId('evt'),
    type,
    botId: installation.bot_id,
    installationId: installation.id,
    webhookUrl: integrationWebhookUrl(config, installation.webhook_id),
  }
}

/**
 * Registers an integration again at each of its enabled installations, as part of a transaction that changes its code.
 *
 * @returns wakes workers for the registrations; to be called after the commit
 */
export async function registerAgain(
  context: Context,
  transaction: Database,
  integrationId: string,
): Promise<() => Promise<void>> {
  const installed = await beginRegistrations(transaction, integrationId)
  for (const row of installed) await insertRegistration(transaction, newRegistration(context.config, row))
  return async () => {
    for (const { id, bot_id: botId, webhook_id: webhookId } of installed) {
      await context.installations.changed(webhookId)
      await wakeWorker(context, 'register', id, botId)
    }
  }
}

const statuses: Record<RegistrationType, { done: InstallationStatus; failed: InstallationStatus }> = {
  register: { done: 'registered', failed: 'registration_failed' },
  unregister: { done: 'unregistered', failed: 'unregistration_failed' },
}

/**
 * Stores the outcome of a `register` or `unregister` event in its installation. It is called before the event is
 * completed: a client that waits for the completion then finds the status, and a crash in between repeats the event and
 * this call. An integration without the function counts as done.
 *
 * @param event as it was claimed
 * @returns lines for the event's log; none when a newer run has claimed the event
 */
export async function registrationEnded(
  { db, installations }: Context,
  event: Pick<EventRow, 'id' | 'attempt' | 'bot_id' | 'type'> & { installation_id: string },
  { status, failureReason = 'no reason given' }: Pick<EventCompletion, 'status' | 'failureReason'>,
): Promise<EventLogLine[]> {
  const type = event.type as RegistrationType
  const failed = status === 'failed'
  const row = await endRegistration(db, {
    eventId: event.id,
    attempt: event.attempt,
    type,
    botId: event.bot_id,
    installationId: event.installation_id,
    status: statuses[type][failed ? 'failed' : 'done'],
    statusReason: failed ? failureReason : null,
  })
  if (!row) return []
  await installations.changed(row.webhook_id)
  const timestamp = new Date().toISOString()
  const who = `${type}() of the integration '${row.alias}'`
  if (!failed) return [{ timestamp, level: 'info', message: `${who} succeeded` }]
  const again = type === 'register' && row.next_register_at ? `; next try at ${row.next_register_at.toISOString()}` : ''
  return [{ timestamp, level: 'error', message: `${who} failed: ${failureReason}${again}` }]
}

/**
 * Requests the registration of every installation that is due by schedule, and computes the next times. Times missed
 * while no worker ran are made up for by one registration.
 *
 * @param installationId restricts the search to one installation
 */
export async function registerBySchedule(context: Context, installationId?: string): Promise<void> {
  while ((await registerSome(context, installationId)) === batchSize);
}

/** @returns the number of installations planned, at most `batchSize` */
async function registerSome(context: Context, installationId?: string): Promise<number> {
  const { db, config } = context
  const { claimedCount, registering } = await db.transaction(async (transaction) => {
    const claimed = await claimScheduledRegistrations(transaction, batchSize, installationId)
    if (claimed.length === 0) return { claimedCount: 0, registering: [] }
    const planned = claimed.map((row) => ({
      installationId: row.id,
      isDue: row.is_due,
      nextTime: nextTime(row.schedule, row.schedule_from, row.now),
      eventId: newId('evt'),
      webhookUrl: integrationWebhookUrl(config, row.webhook_id),
    }))
    return { claimedCount: claimed.length, registering: await planRegistrations(transaction, planned) }
  })
  for (const row of registering) await wakeWorker(context, 'register', row.installation_id, row.bot_id)
  return claimedCount
}
