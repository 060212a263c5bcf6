import { chatConfigurationOf } from '#shared/models/chat-configuration.ts'
import { toListener } from '#shared/models/signal.ts'
import { readLog, type ReadEntry } from '#shared/store/conversation-log.ts'
import { findInstallation } from '#shared/store/installations.ts'
import { insertLog } from '#shared/store/logs.ts'
import {
  advanceWebhookCursor,
  closeWebhookCursor,
  dropWebhookCursor,
  findWebhookCursor,
  postponeWebhook,
  type WebhookCursor,
} from '#shared/store/webhook-cursors.ts'
import type { WorkerContext } from '../context.ts'
import { postToWebhook, webhookAttempts, webhookBackOff, type WebhookAddress } from '../outbound/post-to-webhook.ts'
import type { Installation } from '#shared/models/tables.ts'

/**
 * Sends the waiting entries of a conversation's log to its webhook, in order, and retries each until the receiver
 * accepts it. After the last attempt an entry is dropped with an error in the bot's log, and the next one follows.
 */
export async function callWebhook(worker: WorkerContext, conversationId: string): Promise<void> {
  const { db, config, queue } = worker
  const cursor = await findWebhookCursor(db, conversationId)
  // Another job has sent the entries, or the next attempt is not due: then a delayed job is queued.
  if (!cursor?.is_due) return
  const installation = await findInstallation(db, config.secret, cursor.bot_id, cursor.installation_id)
  const webhook = installation && toWebhook(installation)
  if (!webhook) return dropWebhookCursor(db, conversationId)

  const page = await readLog(db, { botId: cursor.bot_id, conversationId }, cursor.delivered, cursor.latest)
  let { failures } = cursor
  for (const entry of page.entries) {
    const signal = toListener(entry.signal, cursor.foreign_id ?? conversationId)
    const problem = await postToWebhook(worker, webhook, signal)
    if (problem && failures + 1 < webhookAttempts) {
      const delay = webhookBackOff(failures)
      await postponeWebhook(db, conversationId, delay)
      return queue.wakeLater('webhook', conversationId, cursor.bot_id, delay)
    }
    if (problem) await abandon(worker, cursor, entry, problem)
    failures = 0
    await advanceWebhookCursor(db, conversationId, entry.at)
  }
  await advanceWebhookCursor(db, conversationId, page.until)
  await closeWebhookCursor(db, conversationId)
  if (page.until < cursor.latest) await queue.wake('webhook', conversationId, cursor.bot_id)
}

/** The address gets a trailing slash: published receivers expect it. */
function toWebhook(installation: Installation): WebhookAddress | undefined {
  const { webhookUrl, webhookSecret } = chatConfigurationOf(installation)
  if (!webhookUrl) return undefined
  const url = new URL(webhookUrl)
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return { kind: 'chat', tenant: installation.bot_id, url: url.href, secret: webhookSecret }
}

async function abandon(
  { db, metrics }: WorkerContext,
  cursor: WebhookCursor,
  { signal }: ReadEntry,
  problem: string,
): Promise<void> {
  metrics.webhookDrops.inc({ webhook: 'chat' })
  await insertLog(db, {
    botId: cursor.bot_id,
    conversationId: cursor.conversation_id,
    level: 'error',
    message: `Delivering ${signal.type} to the webhook failed after ${webhookAttempts} attempts: ${problem}`,
  })
}
