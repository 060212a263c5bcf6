import { isPublished } from './public-integrations.ts'
import { decryptJson, encryptJson, type PlatformSecret } from '../secrets.ts'
import { builtInIntegration } from '../models/chat-integration.ts'
import { query, transact, type Database } from './database.ts'
import { deleteRowsOfInstallation } from './delete-rows.ts'
import type { InstallationRow, InstallationStatus, Installation } from '../models/tables.ts'

export interface NewInstallation {
  id: string
  botId: string
  /** The name of the integration. */
  integration: string
  /** Absent for a built-in integration. */
  integrationId?: string
  alias: string
  webhookId: string
}

export async function insertInstallation(db: Database, installation: NewInstallation): Promise<InstallationRow> {
  const [row] = await db('installations')
    .insert({
      id: installation.id,
      bot_id: installation.botId,
      integration: installation.integration,
      integration_id: installation.integrationId ?? null,
      integration_workspace_id: workspaceOf(db, installation.integrationId),
      alias: installation.alias,
      webhook_id: installation.webhookId,
    })
    .returning('*')
  if (!row) throw new Error('The inserted installation was not returned')
  return row
}

function workspaceOf(db: Database, integrationId: string | undefined) {
  return integrationId === undefined
    ? null
    : db.raw('(select workspace_id from integrations where id = ?)', [integrationId])
}

export interface InstallationFields {
  integrationId: string
  enabled: boolean
  configurationType: string | null
  disabledChannels: string[]
  /** Absent: unchanged. A new status clears the reason of the former one. */
  status?: InstallationStatus | undefined
}

/**
 * Updates the columns of an installation, which is to stay, even if its removal was requested before. Its identifier is
 * that of one owner's integration, and stays with that alone.
 */
export async function updateInstallation(
  db: Database,
  { botId, id }: { botId: string; id: string },
  fields: InstallationFields,
): Promise<void> {
  await db('installations')
    .where({ bot_id: botId, id })
    .update({
      integration_id: fields.integrationId,
      integration_workspace_id: workspaceOf(db, fields.integrationId),
      identifier: db.raw('case when integration_workspace_id = (?) then identifier end', [
        workspaceOf(db, fields.integrationId),
      ]),
      enabled: fields.enabled,
      configuration_type: fields.configurationType,
      disabled_channels: fields.disabledChannels,
      removal_requested_at: null,
      ...(fields.status && { status: fields.status, status_reason: null }),
      updated_at: db.fn.now(3),
    })
}

/** Enables or disables an installation of a built-in integration, which has nothing to register. */
export async function enableInstallation(
  db: Database,
  { botId, id, enabled }: { botId: string; id: string; enabled: boolean },
): Promise<void> {
  await db('installations')
    .where({ bot_id: botId, id })
    .update({ enabled, updated_at: db.fn.now(3) })
}

/** Marks an installation as waiting for its integration's `unregister()`, after which it is deleted. */
export async function beginRemoval(db: Database, { botId, id }: { botId: string; id: string }): Promise<void> {
  await db('installations')
    .where({ bot_id: botId, id })
    .update({
      status: 'unregistration_pending',
      status_reason: null,
      removal_requested_at: db.fn.now(),
      updated_at: db.fn.now(3),
    })
}

/**
 * Deletes the users and conversations of an installation, and keeps it from getting others until the transaction ends. Those that
 * were being created have the time to be stored, and stay.
 */
export async function emptyInstallation(
  transaction: Database,
  { botId, id }: { botId: string; id: string },
): Promise<void> {
  // The conversations come first, as in a message, which locks its conversation and then the installation.
  await deleteRowsOfInstallation(transaction, id)
  await transaction('installations').where({ bot_id: botId, id }).forUpdate().first('id')
}

/** Deletes an installation with its users and conversations. */
export async function deleteInstallation(db: Database, { botId, id }: { botId: string; id: string }): Promise<void> {
  await deleteRowsOfInstallation(db, id)
  await db('installations').where({ bot_id: botId, id }).delete()
}

/** SQL for whether an installation is to be deleted now. One whose `unregister()` has failed stays, with the reason. */
const isRemovable = `removal_requested_at is not null and status = 'unregistered'`

/** Installations whose integrations have unregistered for their removal, with no event in progress, except those that are being deleted. */
export async function findRemovable(
  db: Database,
  limit: number,
): Promise<Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'>[]> {
  return query(
    db,
    `select id, bot_id, webhook_id from installations
     where ${isRemovable} and not exists (
       select from events where events.mailbox = installations.id and events.status = 'pending'
     )
     order by removal_requested_at limit :limit for no key update skip locked`,
    { limit },
  )
}

/** Deletes an installation, as above, if its integration has unregistered for its removal. False when it has not. */
export async function deleteRemovable(db: Database, { botId, id }: { botId: string; id: string }): Promise<boolean> {
  return transact(db, async (transaction) => {
    const found = await query(
      transaction,
      `select id from installations where bot_id = :botId and id = :id and ${isRemovable} for no key update`,
      { botId, id },
    )
    if (found.length > 0) await deleteInstallation(transaction, { botId, id })
    return found.length > 0
  })
}

/** The ids of a workspace’s bots on which an integration is installed. */
export async function listBotsWith(db: Database, workspaceId: string, integrationId: string): Promise<string[]> {
  return db('installations')
    .where({ integration_id: integrationId })
    .whereIn('bot_id', db('bots').where({ workspace_id: workspaceId }).select('id'))
    .distinct()
    .pluck('bot_id')
}

/**
 * Replaces an installation's configuration.
 *
 * @param secret the platform's own, which encrypts the configuration
 */
export async function configureInstallation(
  db: Database,
  secret: PlatformSecret,
  installation: { botId: string; id: string; configuration: Record<string, unknown> },
): Promise<void> {
  const { botId, id, configuration } = installation
  await db('installations')
    .where({ bot_id: botId, id })
    .update({
      configuration: await encryptJson(secret, id, configuration),
      // An integration's configuration may have a field of the same name.
      has_webhook: db.raw('integration_id is null and ?', [configuration['webhookUrl'] !== undefined]),
      updated_at: db.fn.now(3),
    })
}

/**
 * Finds one of a bot's installations.
 *
 * @param secret the platform's own, which decrypts the configuration
 * @throws Error when the configuration was encrypted with another secret
 */
export async function findInstallation(
  db: Database,
  secret: PlatformSecret,
  botId: string,
  id: string,
): Promise<Installation | undefined> {
  const row = await db('installations').where({ bot_id: botId, id }).first()
  return row && decryptInstallation(row, secret)
}

/** Finds an installation by its webhook id; otherwise as `findInstallation`. */
export async function findInstallationByWebhook(
  db: Database,
  secret: PlatformSecret,
  webhookId: string,
): Promise<Installation | undefined> {
  const row = await db('installations').where({ webhook_id: webhookId }).first()
  return row && decryptInstallation(row, secret)
}

/** Finds the chat of a bot; otherwise as `findInstallation`. */
export async function findChat(db: Database, secret: PlatformSecret, botId: string): Promise<Installation | undefined> {
  const row = await db('installations')
    .where({ bot_id: botId, integration: builtInIntegration })
    .whereNull('integration_id')
    .first()
  return row && decryptInstallation(row, secret)
}

/** A bot's installations, oldest first, with encrypted configurations. */
export async function listInstallations(db: Database, botId: string): Promise<InstallationRow[]> {
  return db('installations').where({ bot_id: botId }).orderBy('created_at')
}

/** The ids of the integrations that are installed on a bot, built-in ones excepted. */
export async function listIntegrationIds(db: Database, botId: string): Promise<string[]> {
  const rows = await db('installations')
    .where({ bot_id: botId })
    .whereNotNull('integration_id')
    .select('integration_id')
  return [...new Set(rows.flatMap(({ integration_id: id }) => id ?? []))]
}

/** The installations on a bot of integrations that a workspace neither has nor finds public, oldest first. */
export async function listForeignIntegrations(
  db: Database,
  botId: string,
  workspaceId: string,
): Promise<Pick<InstallationRow, 'alias' | 'integration'>[]> {
  const usable = db('integrations').where({ workspace_id: workspaceId }).orWhereRaw(isPublished)
  return db('installations')
    .where({ bot_id: botId })
    .whereNotNull('integration_id')
    .whereNotIn('integration_id', usable.select('id'))
    .orderBy('created_at')
    .select('alias', 'integration')
}

/** @throws Error when the configuration was encrypted with another secret */
export async function decryptInstallation(row: InstallationRow, secret: PlatformSecret): Promise<Installation> {
  if (row.configuration === null) return { ...row, configuration: {} }
  return { ...row, configuration: (await decryptJson(secret, row.id, row.configuration)) as Record<string, unknown> }
}
