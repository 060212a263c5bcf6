import { decryptJson, encryptJson, type PlatformSecret } from '../secrets.ts'
import { messageCreated } from '../models/event.ts'
import { maxCountedNews } from '../models/inbox-webhook.ts'
import type { InboxNewsRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'

export interface InboxWebhook {
  url: string
  secret?: string
  /** Consecutive failures to send the next news. */
  failures: number
}

/** Stores the webhook of a workspace, in place of another one. News that wait for that one are sent to this. */
export async function setWebhook(
  db: Database,
  platformSecret: PlatformSecret,
  given: { workspaceId: string; url: string; secret?: string | undefined },
): Promise<void> {
  const { workspaceId, url, secret } = given
  await query(
    db,
    `insert into inbox_webhooks (workspace_id, url, secret) values (:workspaceId, :url, :secret)
     on conflict (workspace_id) do update set url = excluded.url, secret = excluded.secret, failures = 0, due_at = now()`,
    {
      workspaceId,
      url,
      secret: secret === undefined ? null : await encryptJson(platformSecret, workspaceId, { secret }),
    },
  )
}

export async function findWebhook(
  db: Database,
  platformSecret: PlatformSecret,
  workspaceId: string,
): Promise<InboxWebhook | undefined> {
  const row = await db('inbox_webhooks').where({ workspace_id: workspaceId }).first()
  if (!row) return undefined
  const { url, failures, secret: encrypted } = row
  if (encrypted === null) return { url, failures }
  const { secret } = (await decryptJson(platformSecret, workspaceId, encrypted)) as { secret: string }
  return { url, failures, secret }
}

/** Deletes the webhook of a workspace with its news. @returns whether it had one */
export async function deleteWebhook(db: Database, workspaceId: string): Promise<boolean> {
  return (await db('inbox_webhooks').where({ workspace_id: workspaceId }).delete()) === 1
}

/** The number of news that wait, up to a bound. */
export async function countNews(db: Database, workspaceId: string): Promise<number> {
  return (await db('inbox_news').where({ workspace_id: workspaceId }).select('id').limit(maxCountedNews)).length
}

/** SQL for the lock of a webhook that gets news: one that is being removed gets none, and is no reason to refuse what happens. */
const lockOfWebhook = 'for key share of inbox_webhooks'

/** Records, where the workspace has a webhook, that the user of a handover has written; a message is recorded once. */
export async function recordMessageNews(
  db: Database,
  { handoverId, messageId }: { handoverId: string; messageId: string },
): Promise<void> {
  await query(
    db,
    `insert into inbox_news (workspace_id, handover_id, type, account_id, message_id)
     select inbox_webhooks.workspace_id, handovers.id, 'message_created', account_id, :messageId
     from handovers join bots on bots.id = bot_id join inbox_webhooks using (workspace_id)
     where handovers.id = :handoverId ${lockOfWebhook}
     on conflict (message_id) do nothing`,
    { handoverId, messageId },
  )
}

/**
 * Records likewise, in a transaction, the messages during a handover whose events no worker has taken, before its end makes
 * these ignored. A plugin's handover does not withhold events.
 */
export async function recordWaitingNews(transaction: Database, handoverId: string): Promise<void> {
  await query(
    transaction,
    `insert into inbox_news (workspace_id, handover_id, type, account_id, message_id)
     select inbox_webhooks.workspace_id, handovers.id, 'message_created', account_id, events.message_id
     from handovers join bots on bots.id = bot_id join inbox_webhooks using (workspace_id)
     join events on events.mailbox = handovers.conversation_id
     where handovers.id = :handoverId and handovers.ended_at is null and requested_by <> 'integration'
       and events.status = 'pending' and attempt = 0 and events.installation_id is null
       and events.type = '${messageCreated}' and events.message_id is not null
     order by events.created_at, events.id ${lockOfWebhook}
     on conflict (message_id) do nothing`,
    { handoverId },
  )
}

/**
 * Claims the webhooks that have news to send now. Each is due again after some seconds, should the job that its wake-up
 * makes be lost.
 */
export async function claimDueWebhooks(db: Database, leaseMilliseconds: number): Promise<string[]> {
  const rows = await query<{ workspace_id: string }>(
    db,
    `update inbox_webhooks set due_at = now() + :leaseMilliseconds * interval '1 millisecond'
     where due_at <= now() and exists (select from inbox_news where workspace_id = inbox_webhooks.workspace_id)
     returning workspace_id`,
    { leaseMilliseconds },
  )
  return rows.map((row) => row.workspace_id)
}

/** The oldest news of a workspace, with its bot. Those of bots that have moved to another workspace are dropped. */
export async function nextNews(
  db: Database,
  workspaceId: string,
): Promise<(InboxNewsRow & { bot_id: string; bot_name: string }) | undefined> {
  await query(
    db,
    `delete from inbox_news using handovers, bots
     where inbox_news.workspace_id = :workspaceId and handovers.id = handover_id and bots.id = handovers.bot_id
       and bots.workspace_id <> :workspaceId`,
    { workspaceId },
  )
  const [row] = await query<InboxNewsRow & { bot_id: string; bot_name: string }>(
    db,
    `select inbox_news.*, bot_id, bots.name as bot_name
     from inbox_news join handovers on handovers.id = handover_id join bots on bots.id = handovers.bot_id
     where inbox_news.workspace_id = :workspaceId order by inbox_news.id limit 1`,
    { workspaceId },
  )
  return row
}

/** Deletes news that are sent or given up, and makes the webhook's next ones due after the given time. */
export async function endNews(
  db: Database,
  { workspaceId, id, leaseMilliseconds }: { workspaceId: string; id: string; leaseMilliseconds: number },
): Promise<void> {
  await query(
    db,
    `with sent as (delete from inbox_news where id = :id)
     update inbox_webhooks set failures = 0, due_at = now() + :leaseMilliseconds * interval '1 millisecond'
     where workspace_id = :workspaceId`,
    { workspaceId, id, leaseMilliseconds },
  )
}

/** Makes a webhook due after a delay. @param isFailure whether the next news could not be sent */
export async function postponeNews(
  db: Database,
  { workspaceId, milliseconds, isFailure }: { workspaceId: string; milliseconds: number; isFailure: boolean },
): Promise<void> {
  await query(
    db,
    `update inbox_webhooks set failures = failures + :isFailure::boolean::integer,
       due_at = now() + :milliseconds * interval '1 millisecond'
     where workspace_id = :workspaceId`,
    { workspaceId, milliseconds, isFailure },
  )
}
