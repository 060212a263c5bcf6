import type { Context } from '../context.ts'
import { deleteRemovable } from '../store/installations.ts'
import type { InstallationRow } from '../models/tables.ts'

/** Deletes those of these installations that are to be removed and whose integrations have unregistered. */
export async function removeUnregistered(
  { db, installations }: Context,
  rows: Pick<InstallationRow, 'id' | 'bot_id' | 'webhook_id'>[],
): Promise<void> {
  for (const { id, bot_id: botId, webhook_id: webhookId } of rows) {
    if (await deleteRemovable(db, { botId, id })) await installations.changed(webhookId)
  }
}
