import type { ChatConfiguration } from '../models/chat-configuration.ts'
import { decryptJson, encryptJson } from '../secrets.ts'
import type { Database } from './database.ts'
import type { InstallationRow } from './tables.ts'

/** An installation with its configuration in plain text. It holds secrets: never to be logged or shown whole. */
export type Installation = Omit<InstallationRow, 'configuration'> & { configuration: ChatConfiguration }

export async function insertInstallation(
  db: Database,
  installation: { id: string; botId: string; integration: string; alias: string; webhookId: string },
): Promise<InstallationRow> {
  const [row] = await db('installations')
    .insert({
      id: installation.id,
      bot_id: installation.botId,
      integration: installation.integration,
      alias: installation.alias,
      webhook_id: installation.webhookId,
    })
    .returning('*')
  if (!row) throw new Error('The inserted installation was not returned')
  return row
}

/**
 * Replaces an installation's configuration.
 *
 * @param secret the platform's own, which encrypts it
 */
export async function configureInstallation(
  db: Database,
  secret: string,
  installation: { botId: string; id: string; configuration: ChatConfiguration },
): Promise<void> {
  const { botId, id, configuration } = installation
  await db('installations')
    .where({ bot_id: botId, id })
    .update({
      configuration: await encryptJson(secret, id, configuration),
      has_webhook: configuration.webhookUrl !== undefined,
      updated_at: db.fn.now(3),
    })
}

/**
 * Finds one of a bot's installations.
 *
 * @param secret the platform's own, with which the configuration was encrypted
 * @throws Error when it was encrypted with another
 */
export async function findInstallation(
  db: Database,
  secret: string,
  botId: string,
  id: string,
): Promise<Installation | undefined> {
  const row = await db('installations').where({ bot_id: botId, id }).first()
  return row && decryptInstallation(row, secret)
}

/** Finds an installation by its address; otherwise as `findInstallation`. */
export async function findInstallationByWebhook(
  db: Database,
  secret: string,
  webhookId: string,
): Promise<Installation | undefined> {
  const row = await db('installations').where({ webhook_id: webhookId }).first()
  return row && decryptInstallation(row, secret)
}

/** A bot's installations, oldest first, as they are stored. */
export async function listInstallations(db: Database, botId: string): Promise<InstallationRow[]> {
  return db('installations').where({ bot_id: botId }).orderBy('created_at')
}

/** @throws Error when the configuration was encrypted with another secret */
export async function decryptInstallation(row: InstallationRow, secret: string): Promise<Installation> {
  if (row.configuration === null) return { ...row, configuration: {} }
  return { ...row, configuration: (await decryptJson(secret, row.id, row.configuration)) as ChatConfiguration }
}
