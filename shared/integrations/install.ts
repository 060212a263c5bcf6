import type { PlatformSecret } from '../secrets.ts'
import { isDeepStrictEqual } from 'node:util'
import { wakeWorker } from '../signals/after-commit.ts'
import { awaitOutcome } from '../signals/await-outcome.ts'
import { WaitingRequests } from '../signals/waiting-requests.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import { newId, newWebhookId } from '../ids.ts'
import { newRegistration } from './registration.ts'
import { removeUnregistered } from './remove-unregistered.ts'
import { isInbox } from '../models/chat-integration.ts'
import type { Database } from '../store/database.ts'
import { hasSessions } from '../store/inbox.ts'
import { findEvent } from '../store/events.ts'
import {
  beginRemoval,
  configureInstallation,
  deleteInstallation,
  emptyInstallation,
  enableInstallation,
  insertInstallation,
  updateInstallation,
} from '../store/installations.ts'
import { insertRegistration, type NewRegistration, type RegistrationType } from '../store/registrations.ts'
import type { InstallationRow, InstallationStatus } from '../models/tables.ts'
import type { InstallationChange } from './integrations.ts'

/** Time that an integration's code has to register or unregister before the request is answered without the outcome. */
const registrationMilliseconds = 30_000

/** Upper bound of the changes of one bot that wait for its integrations in one process: each holds a request. */
const waiting = new WaitingRequests(100)

/** The work that follows the commit of a change of installations. */
export interface PostCommitWork {
  /** Webhook ids of the changed installations. */
  webhookIds: string[]
  registrations: NewRegistration[]
  /** Installations to delete once their integration has unregistered; a worker does it when the request has ended before. */
  removed: Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'>[]
  /** The event of the bot's own registration; no request waits for its end. */
  botEvent?: { id: string; botId: string }
}

/** Makes the planned changes of a bot's installations, as part of a transaction. */
export async function changeInstallations(
  { config }: Context,
  transaction: Database,
  botId: string,
  changes: InstallationChange[],
): Promise<PostCommitWork> {
  const postCommitWork: PostCommitWork = { webhookIds: [], registrations: [], removed: [] }
  for (const change of changes) {
    if (change.kind === 'install') {
      const row = await install(transaction, config.secret, botId, change)
      postCommitWork.webhookIds.push(row.webhook_id)
      const type = registrationOf(change)
      if (type) postCommitWork.registrations.push(newRegistration(config, row, type))
      continue
    }
    if (change.kind === 'install built-in') {
      postCommitWork.webhookIds.push(await installBuiltIn(transaction, config.secret, botId, change))
      continue
    }
    const { present } = change
    const key = { botId, id: present.id }
    postCommitWork.webhookIds.push(present.webhook_id)
    if (change.kind === 'configure chat') {
      const { configuration } = change
      if (configuration) await configureInstallation(transaction, config.secret, { ...key, configuration })
    } else if (present.integration_id === null || isUnregistered(present)) {
      if (isInbox(present)) await emptyInbox(transaction, key)
      await deleteInstallation(transaction, key)
    } else {
      await beginRemoval(transaction, key)
      postCommitWork.registrations.push(newRegistration(config, present, 'unregister'))
      postCommitWork.removed.push(present)
    }
  }
  for (const registration of postCommitWork.registrations) await insertRegistration(transaction, registration)
  return postCommitWork
}

/**
 * Waits, after the commit, for the integrations to register and unregister. A failure is stored in the status of the
 * installation; after a timeout the call continues, and the installation stays pending.
 */
export async function finishInstallations(context: Context, postCommitWork: PostCommitWork): Promise<void> {
  const { installations } = context
  const { botEvent } = postCommitWork
  if (botEvent) await wakeWorker(context, 'event', botEvent.id, botEvent.botId)
  for (const webhookId of postCommitWork.webhookIds) await installations.changed(webhookId)
  await awaitRegistrations(context, postCommitWork.registrations)
  await removeUnregistered(context, postCommitWork.removed)
}

/** @throws ApiError `ReferenceConstraint` when people answer through an inbox that is to be removed */
async function emptyInbox(transaction: Database, inbox: { botId: string; id: string }): Promise<void> {
  await assertNoSessions(transaction, inbox.id)
  await emptyInstallation(transaction, inbox)
  // One may have begun meanwhile.
  await assertNoSessions(transaction, inbox.id)
}

async function assertNoSessions(transaction: Database, installationId: string): Promise<void> {
  if (!(await hasSessions(transaction, installationId))) return
  throw new ApiError(
    'ReferenceConstraint',
    'People answer in conversations of the inbox, and a plugin of the bot waits for their end: hand them back first',
  )
}

/** Whether nothing is left to unregister, or unregistration has failed before and is not repeated. */
export function isUnregistered({ status }: Pick<InstallationRow, 'status'>): boolean {
  return status === 'unregistered' || status === 'unregistration_failed'
}

/** @returns the webhook id */
async function installBuiltIn(
  transaction: Database,
  secret: PlatformSecret,
  botId: string,
  change: Extract<InstallationChange, { kind: 'install built-in' }>,
): Promise<string> {
  const { alias, enabled, configuration } = change
  const row =
    change.present ??
    (await insertInstallation(transaction, {
      id: newId('int'),
      botId,
      integration: alias,
      alias,
      webhookId: newWebhookId(),
    }))
  const key = { botId, id: row.id }
  await enableInstallation(transaction, { ...key, enabled })
  if (configuration) await configureInstallation(transaction, secret, { ...key, configuration })
  return row.webhook_id
}

type Installing = Extract<InstallationChange, { kind: 'install' }>

async function install(
  transaction: Database,
  secret: PlatformSecret,
  botId: string,
  change: Installing,
): Promise<Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'>> {
  const { present, integration, alias, configuration } = change
  const row =
    present ??
    (await insertInstallation(transaction, {
      id: newId('int'),
      botId,
      integration: integration.name,
      integrationId: integration.id,
      alias,
      webhookId: newWebhookId(),
    }))
  const key = { botId, id: row.id }
  await updateInstallation(transaction, key, {
    integrationId: integration.id,
    enabled: change.enabled,
    configurationType: change.configurationType,
    disabledChannels: change.disabledChannels,
    status: statusOf(change),
  })
  if (!isDeepStrictEqual(change.formerConfiguration, configuration)) {
    await configureInstallation(transaction, secret, { ...key, configuration })
  }
  return row
}

function statusOf(change: Installing): InstallationStatus | undefined {
  const type = registrationOf(change)
  if (type) return `${type === 'register' ? 'registration' : 'unregistration'}_pending`
  return change.present ? undefined : 'unregistered'
}

/**
 * The call that a change requires: `register` when anything that registration depends on has changed or it has failed
 * before, `unregister` when the installation is disabled.
 */
function registrationOf(change: Installing): RegistrationType | undefined {
  const { present, enabled } = change
  if (!enabled) return present && !isUnregistered(present) ? 'unregister' : undefined
  const isUnchanged =
    present?.status === 'registered' &&
    present.enabled &&
    present.integration_id === change.integration.id &&
    present.configuration_type === change.configurationType &&
    isDeepStrictEqual(change.formerConfiguration, change.configuration)
  return isUnchanged ? undefined : 'register'
}

/** Where too many requests of the bot wait already, workers are woken, and the request is answered without the outcome. */
async function awaitRegistrations(context: Context, registrations: NewRegistration[]): Promise<void> {
  const botId = registrations[0]?.botId
  if (botId === undefined) return
  try {
    await waiting.run(context, { botId }, 'changes of integrations of this bot', () =>
      Promise.all(registrations.map((registration) => awaitRegistration(context, registration))),
    )
  } catch (error) {
    if (!(error instanceof ApiError && error.type === 'RateLimited')) throw error
    for (const registration of registrations) await wakeFor(context, registration)
  }
}

function wakeFor(context: Context, { botId, installationId }: NewRegistration): Promise<void> {
  return wakeWorker(context, 'register', installationId, botId)
}

async function awaitRegistration(context: Context, registration: NewRegistration): Promise<void> {
  const { db, signals } = context
  const { id, botId } = registration
  try {
    await awaitOutcome(signals, id, {
      ask: () => wakeFor(context, registration),
      async poll() {
        const event = await findEvent(db, botId, id)
        // Another request may have removed the installation meanwhile.
        return event?.status === 'pending' ? undefined : true
      },
      timeoutMilliseconds: registrationMilliseconds,
      timeoutMessage: 'The integration did not answer in time',
    })
  } catch (error) {
    if (!(error instanceof ApiError && error.type === 'OperationTimeout')) throw error
  }
}
