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
  takeScheduledRegistrations,
  type NewRegistration,
  type RegistrationType,
} from '../store/registrations.ts'
import type { EventRow, InstallationRow, InstallationStatus } from '../models/tables.ts'

/** Installations whose times are worked out in one transaction. */
const batchSize = 100

/** The address at which the outside reaches an installed integration. */
export function integrationWebhookUrl({ http }: Config, webhookId: string): string {
  return `${http.baseUrl}/webhooks/${webhookId}`
}

/**
 * The event that has `register` or `unregister` of an installed integration called, to be stored with what it is called
 * for (`insertRegistration`). A worker is woken for it by a job named `register`.
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
 * Has an integration register again wherever it is installed and switched on, as part of a transaction that changes its
 * code.
 *
 * @returns wakes workers for it, to be called once that is committed
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
 * Shows on the installation how a `register` or `unregister` event went. To be called before the event is ended: who
 * waits for its end finds the status, and a crash in between brings the event, and this, once more. An integration
 * without such a function has nothing to do and is done.
 *
 * @param event as it was claimed
 * @returns lines for the event's log; none when a newer run has taken the event over
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
 * Has `register` called of every integration where it is due by schedule, and works out the next times. A time that
 * passed while no worker ran is made up for once, however many passed.
 *
 * @param installationId of the only one that is of interest; all unless given
 */
export async function registerBySchedule(context: Context, installationId?: string): Promise<void> {
  while ((await registerSome(context, installationId)) === batchSize);
}

/** @returns how many installations were seen to, at most as many as are at once */
async function registerSome(context: Context, installationId?: string): Promise<number> {
  const { db, config } = context
  const { seenTo, registering } = await db.transaction(async (transaction) => {
    const taken = await takeScheduledRegistrations(transaction, batchSize, installationId)
    if (taken.length === 0) return { seenTo: 0, registering: [] }
    const planned = taken.map((row) => ({
      installationId: row.id,
      isDue: row.is_due,
      nextTime: nextTime(row.schedule, row.schedule_from, row.now),
      eventId: newId('evt'),
      webhookUrl: integrationWebhookUrl(config, row.webhook_id),
    }))
    return { seenTo: taken.length, registering: await planRegistrations(transaction, planned) }
  })
  for (const row of registering) await wakeWorker(context, 'register', row.installation_id, row.bot_id)
  return seenTo
}
