import type { Database } from './database.ts'

/** Disables code of a bot, for all workers. Does nothing when the bot has been deleted. */
export async function disableCode(
  db: Database,
  { botId, codeId, reason }: { botId: string; codeId: string; reason: string },
): Promise<void> {
  const bot = db('bots')
    .where({ id: botId })
    .select('id', db.raw('?', [codeId]), db.raw('?', [reason]))
  await db(db.raw('disabled_code (bot_id, code_id, reason)')).insert(bot).onConflict(['bot_id', 'code_id']).ignore()
}

/** The reasons why code of a bot is disabled, by the id of the code. */
export async function disabledCode(db: Database, botId: string): Promise<Map<string, string>> {
  const rows = await db('disabled_code').where({ bot_id: botId })
  return new Map(rows.map((row) => [row.code_id, row.reason]))
}

/** SQL for the reason why code is disabled for a bot; null when it is not. */
export function disabledReason(botId: string, codeId: string): string {
  return `(select reason from disabled_code where disabled_code.bot_id = ${botId} and disabled_code.code_id = ${codeId})`
}
