import { query, type Database } from './database.ts'

/** A conversation with entries that wait to be sent to the installation's webhook. */
export interface WebhookCursor {
  conversation_id: string
  bot_id: string
  installation_id: string
  /** The conversation's external id, if it has one. */
  foreign_id: string | null
  /** Entries up to `delivered` are sent; the newest is at `latest`. */
  delivered: Date
  latest: Date
  /** Consecutive failures to send the next entry. */
  failures: number
  /** Whether the next entry may be sent now. */
  is_due: boolean
}

/** The queue's clock is not the database's: a wake-up that is refused by a moment would wait for the sweep. */
const clockTolerance = `interval '50 milliseconds'`

export async function findWebhookCursor(db: Database, conversationId: string): Promise<WebhookCursor | undefined> {
  const [row] = await query<WebhookCursor>(
    db,
    `select webhook_cursors.*, installation_id, foreign_id, due_at <= clock_timestamp() + ${clockTolerance} as is_due
     from webhook_cursors join conversations on conversations.id = conversation_id
     where conversation_id = :conversationId`,
    { conversationId },
  )
  return row
}

/** Records that the entries up to a time are sent or given up. */
export async function advanceWebhookCursor(db: Database, conversationId: string, delivered: Date): Promise<void> {
  await query(
    db,
    `update webhook_cursors set delivered = :delivered, failures = 0, due_at = clock_timestamp()
     where conversation_id = :conversationId`,
    { conversationId, delivered },
  )
}

/** Records a failure to send the next entry, and the delay before the next try. */
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
 * Deletes a cursor without entries to send. An entry written concurrently either keeps the cursor or creates it again,
 * because both statements lock the row.
 */
export async function closeWebhookCursor(db: Database, conversationId: string): Promise<void> {
  await db('webhook_cursors').where({ conversation_id: conversationId }).whereRaw('delivered >= latest').delete()
}

/** Deletes a cursor with its entries to send. */
export async function dropWebhookCursor(db: Database, conversationId: string): Promise<void> {
  await db('webhook_cursors').where({ conversation_id: conversationId }).delete()
}

/** Conversations whose entries are overdue. */
export async function overdueWebhooks(
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
