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
import type { Installation } from '#shared/models/tables.ts'

/** An entry is tried so often: with the waits between, for about 17 minutes. */
const attempts = 10
/** The wait after the first failure; each further one is twice the one before. */
const backOffMilliseconds = 1000
const timeoutMilliseconds = 10_000
/** The answer is of no interest. */
const maxResponseBytes = 64 * 1024

/**
 * Sends the entries of a conversation's log that wait for its webhook, in their order, each until it is taken. One that
 * is refused again and again is given up, with a word in the bot's log, and the next has its turn.
 */
export async function callWebhook(worker: WorkerContext, conversationId: string): Promise<void> {
  const { db, config, queue } = worker
  const cursor = await findWebhookCursor(db, conversationId)
  // Somebody else has sent it, or it is to wait: then a job that comes later is on its way.
  if (!cursor?.is_due) return
  const installation = await findInstallation(db, config.secret, cursor.bot_id, cursor.installation_id)
  const webhook = installation && toWebhook(installation)
  if (!webhook) return dropWebhookCursor(db, conversationId)

  const page = await readLog(db, { botId: cursor.bot_id, conversationId }, cursor.delivered, cursor.latest)
  let { failures } = cursor
  for (const entry of page.entries) {
    const problem = await send(worker, webhook, entry, cursor.foreign_id ?? conversationId)
    if (problem && failures + 1 < attempts) {
      const delay = backOffMilliseconds * 2 ** failures
      await postponeWebhook(db, conversationId, delay)
      return queue.wakeLater('webhook', conversationId, cursor.bot_id, delay)
    }
    if (problem) await giveUp(worker, cursor, entry, problem)
    failures = 0
    await advanceWebhookCursor(db, conversationId, entry.at)
  }
  await advanceWebhookCursor(db, conversationId, page.until)
  await closeWebhookCursor(db, conversationId)
  if (page.until < cursor.latest) await queue.wake('webhook', conversationId, cursor.bot_id)
}

interface Webhook {
  botId: string
  url: string
  secret: string | undefined
}

/** The address with a slash at its end: published receivers are told there. */
function toWebhook(installation: Installation): Webhook | undefined {
  const { webhookUrl, webhookSecret } = chatConfigurationOf(installation)
  if (!webhookUrl) return undefined
  const url = new URL(webhookUrl)
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return { botId: installation.bot_id, url: url.href, secret: webhookSecret }
}

/** @returns why the entry was not taken; undefined when it was */
async function send(
  { outbound, log }: WorkerContext,
  { botId, url, secret }: Webhook,
  { signal }: ReadEntry,
  externalConversationId: string,
): Promise<string | undefined> {
  try {
    using response = await outbound.request({
      tenant: botId,
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...(secret && { 'x-secret-key': secret }) },
      body: JSON.stringify(toListener(signal, externalConversationId)),
      // The port that the address names may be any.
      allow: [new URL(url).host],
      // A redirect would turn the POST into a GET, which tells nobody anything.
      maxRedirects: 0,
      timeoutMilliseconds,
      maxResponseBytes: maxResponseBytes,
    })
    return response.status < 300 ? undefined : `it answered with ${response.status}`
  } catch (error) {
    log.debug({ err: error }, 'Calling a webhook failed')
    return error instanceof Error ? error.message : String(error)
  }
}

async function giveUp(
  { db }: WorkerContext,
  cursor: WebhookCursor,
  { signal }: ReadEntry,
  problem: string,
): Promise<void> {
  await insertLog(db, {
    botId: cursor.bot_id,
    conversationId: cursor.conversation_id,
    level: 'error',
    message: `Delivering ${signal.type} to the webhook failed after ${attempts} attempts: ${problem}`,
  })
}
