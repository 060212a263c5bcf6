import type { Database } from './database.ts'
import type { Permissions } from '../models/tables.ts'

/**
 * What was granted to the code of a bot, or of an integration that is installed on it. Nothing when it was deleted
 * meanwhile.
 */
export async function findPermissions(db: Database, botId: string, integrationId?: string): Promise<Permissions> {
  const row = await (integrationId === undefined
    ? db('bots').where({ id: botId }).first('permissions')
    : db('integrations').where({ id: integrationId }).first('permissions'))
  return row?.permissions ?? {}
}
