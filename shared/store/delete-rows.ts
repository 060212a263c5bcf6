import { isOverTime } from './connections.ts'
import { query, type Database } from './database.ts'
import type { Binding } from './prepared-statement.ts'
import { deleteAllRows } from './table-rows.ts'

/**
 * Deletion of the rows that go with a bot, an installation or a conversation, in batches: all of them together take longer
 * than a statement may. Rows that others refer to are deleted after those, because a row that goes with another one costs a
 * statement of its own. Rows that are written meanwhile go with the bot, the installation or the conversation. A trigger
 * deletes the states of users, conversations and workflows with these (docs/decisions/0144).
 */

/** Rows of one statement, which takes some 100 ms. */
const batchSize = 1000

/** The tables with many rows of a bot, in the order in which they are emptied. */
const tablesOfBot = ['events', 'messages', 'logs', 'states', 'workflows', 'passages', 'conversations', 'users']

/** Deletes the rows of a bot that is about to be deleted. A call that is interrupted is repeated. */
export async function deleteRowsOfBot(db: Database, botId: string): Promise<void> {
  const botTables = await query<{ id: string }>(db, 'select id from bot_tables where bot_id = :botId', { botId })
  for (const { id } of botTables) await deleteAllRows(db, id)
  for (const table of tablesOfBot) await deleteWhere(db, table, 'bot_id = :botId', { botId })
}

/** The tables with many rows of a conversation. */
const tablesOfConversation = ['messages', 'events', 'workflows']

/** Conversations whose rows one statement looks for. */
const conversationsOfBatch = 100

/** Deletes the rows of an installation that is about to be deleted. */
export async function deleteRowsOfInstallation(db: Database, installationId: string): Promise<void> {
  for (;;) {
    // In a transaction, conversations are locked before their events and workflows, as everywhere.
    const rows = await query<{ id: string }>(
      db,
      `select id from conversations where installation_id = :installationId limit ${conversationsOfBatch} for update`,
      { installationId },
    )
    const ids = rows.map(({ id }) => id)
    for (const table of tablesOfConversation) {
      await deleteWhere(db, table, 'conversation_id = any(:ids::text[])', { ids })
    }
    await query(db, 'delete from conversations where id = any(:ids::text[])', { ids })
    if (rows.length < conversationsOfBatch) break
  }
  for (const table of ['events', 'states', 'users']) {
    await deleteWhere(db, table, 'installation_id = :installationId', { installationId })
  }
}

/**
 * Rows of one statement of a transaction, which takes about a second. The indexes have the deleted rows until its end, and
 * each statement passes those of the ones before: few statements, not small ones.
 */
const batchOfTransaction = 20_000

/** Deletes the messages, events and workflows of conversations that are about to be deleted, and are locked. */
export async function deleteRowsOfConversations(transaction: Database, ids: string[]): Promise<void> {
  for (const table of tablesOfConversation) {
    await deleteWhere(transaction, table, 'conversation_id = any(:ids::text[])', { ids }, batchOfTransaction)
  }
}

async function deleteWhere(
  db: Database,
  table: string,
  condition: string,
  bindings: Record<string, Binding>,
  limit: number = batchSize,
): Promise<void> {
  for (let size = limit, count = size; count === size;) {
    const batch = `select id from ${table} where ${condition} limit ${size}`
    try {
      count = (await query(db, `delete from ${table} where id in (${batch}) returning 1`, bindings)).length
    } catch (error) {
      // Indexes that still have many deleted rows make each row dearer. The connection of a transaction is lost.
      if (!isOverTime(error) || db.isTransaction || size === 1) throw error
      count = size = Math.ceil(size / 4)
    }
  }
}
