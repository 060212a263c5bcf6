import type { Database } from './database.ts'
import type { Permissions } from '../models/tables.ts'

/**
 * The permissions of a bot's code, or of an installed integration's code. Empty when the bot or integration has been
 * deleted.
 */
export async function findPermissions(db: Database, botId: string, integrationId?: string): Promise<Permissions> {
  const row = await (integrationId === undefined
    ? db('bots').where({ id: botId }).first('permissions')
    : db('integrations').where({ id: integrationId }).first('permissions'))
  return row?.permissions ?? {}
}
