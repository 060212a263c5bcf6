import { query, type Database } from './database.ts'

/** A conversation with entries that wait to be sent to the installation's webhook. */
export interface WebhookCursor {
  conversation_id: string
  bot_id: string
  installation_id: string
  /** What clients call the conversation, when that is not its id. */
  foreign_id: string | null
  /** Entries up to this time are sent, and there are some up to that one. */
  delivered: Date
  latest: Date
  /** Failures in a row, of the entry that is next. */
  failures: number
  /** Whether the entry may be tried now. */
  is_due: boolean
}

/** The queue's clock is not the database's: one that is refused for a moment would wait for the sweep. */
const earliness = `interval '50 milliseconds'`

export async function findWebhookCursor(db: Database, conversationId: string): Promise<WebhookCursor | undefined> {
  const [row] = await query<WebhookCursor>(
    db,
    `select webhook_cursors.*, installation_id, foreign_id, due_at <= clock_timestamp() + ${earliness} as is_due
     from webhook_cursors join conversations on conversations.id = conversation_id
     where conversation_id = :conversationId`,
    { conversationId },
  )
  return row
}

/** Notes that the entries up to a time are sent, or given up. */
export async function advanceWebhookCursor(db: Database, conversationId: string, delivered: Date): Promise<void> {
  await query(
    db,
    `update webhook_cursors set delivered = :delivered, failures = 0, due_at = clock_timestamp()
     where conversation_id = :conversationId`,
    { conversationId, delivered },
  )
}

/** Notes that the next entry could not be sent, and for how long to wait. */
export async function postponeWebhook(db: Database, conversationId: string, milliseconds: number): Promise<void> {
  await query(
    db,
    `update webhook_cursors
     set failures = failures + 1, due_at = clock_timestamp() + :milliseconds * interval '1 millisecond'
     where conversation_id = :conversationId`,
    { conversationId, milliseconds },
  )
}

/**
 * Forgets a cursor that has nothing left to send. An entry that is written at the same moment either keeps it or makes
 * it anew: both lock the row.
 */
export async function closeWebhookCursor(db: Database, conversationId: string): Promise<void> {
  await db('webhook_cursors').where({ conversation_id: conversationId }).whereRaw('delivered >= latest').delete()
}

/** Forgets a cursor with what it has left to send. */
export async function dropWebhookCursor(db: Database, conversationId: string): Promise<void> {
  await db('webhook_cursors').where({ conversation_id: conversationId }).delete()
}

/** Conversations whose entries have been due for some time although nobody sends them. */
export async function forgottenWebhooks(
  db: Database,
  olderThanMilliseconds: number,
  limit: number,
): Promise<{ conversation_id: string; bot_id: string }[]> {
  return query(
    db,
    `select conversation_id, bot_id from webhook_cursors
     where due_at < clock_timestamp() - :olderThanMilliseconds * interval '1 millisecond'
     order by due_at limit :limit`,
    { olderThanMilliseconds, limit },
  )
}
