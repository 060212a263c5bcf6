import type { Database } from './database.ts'

/** Takes code out of service for a bot, for all workers. Does nothing when the bot was deleted meanwhile. */
export async function disableCode(
  db: Database,
  { botId, codeId, reason }: { botId: string; codeId: string; reason: string },
): Promise<void> {
  const bot = db('bots')
    .where({ id: botId })
    .select('id', db.raw('?', [codeId]), db.raw('?', [reason]))
  await db(db.raw('disabled_code (bot_id, code_id, reason)')).insert(bot).onConflict(['bot_id', 'code_id']).ignore()
}

/** Why code of a bot was taken out of service, by the id of the code. */
export async function disabledCode(db: Database, botId: string): Promise<Map<string, string>> {
  const rows = await db('disabled_code').where({ bot_id: botId })
  return new Map(rows.map((row) => [row.code_id, row.reason]))
}

/** SQL of the reason why the code with an id was taken out of service for a bot; null when it was not. */
export function disabledReason(botId: string, codeId: string): string {
  return `(select reason from disabled_code where disabled_code.bot_id = ${botId} and disabled_code.code_id = ${codeId})`
}
