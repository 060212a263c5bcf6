import type { Database } from './database.ts'
import type { LogRow } from './tables.ts'

/** Adds a line to a bot's log. */
export async function insertLog(
  db: Database,
  line: { botId: string; conversationId?: string; level: LogRow['level']; message: string },
): Promise<void> {
  await db('logs').insert({
    bot_id: line.botId,
    conversation_id: line.conversationId ?? null,
    level: line.level,
    message: line.message,
    created_at: db.fn.now(3),
  })
}
