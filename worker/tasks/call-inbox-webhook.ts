import { toHandover } from '#shared/models/handover.ts'
import { findHandover } from '#shared/store/find-handovers.ts'
import { endNews, findWebhook, nextNews, postponeNews } from '#shared/store/inbox-webhooks.ts'
import { insertLog } from '#shared/store/logs.ts'
import type { WorkerContext } from '../context.ts'
import { postToWebhook, webhookAttempts, webhookBackOff } from '../outbound/post-to-webhook.ts'

/** A webhook whose job is lost is due again after this time; it is longer than one request takes. */
export const leaseMilliseconds = 20_000
/** News that one job sends; the rest follows in another one, so that no workspace keeps a slot. */
const batchSize = 50

type News = NonNullable<Awaited<ReturnType<typeof nextNews>>>

/**
 * Sends the news of a workspace's inbox to its webhook, in order, and retries each until the receiver accepts it. After the
 * last attempt it is dropped with an error in the bot's log, and the next one follows.
 */
export async function callInboxWebhook(worker: WorkerContext, workspaceId: string): Promise<void> {
  const { db, config } = worker
  for (let sent = 0; sent < batchSize; sent++) {
    const webhook = await findWebhook(db, config.secret, workspaceId)
    const news = webhook && (await nextNews(db, workspaceId))
    if (!news) break
    const { url, secret, failures } = webhook
    const problem = await postToWebhook(
      worker,
      { kind: 'inbox', tenant: workspaceId, url, secret },
      await describe(worker, news),
    )
    if (problem && failures + 1 < webhookAttempts) {
      return postponeNews(db, { workspaceId, milliseconds: webhookBackOff(failures), isFailure: true })
    }
    if (problem) await abandon(worker, news, problem)
    await endNews(db, { workspaceId, id: news.id, leaseMilliseconds })
  }
  await postponeNews(db, { workspaceId, milliseconds: 0, isFailure: false })
}

/** The body of a request: the handover as it is when it is sent. */
async function describe({ db }: WorkerContext, news: News): Promise<object> {
  const { id, type, created_at: createdAt, bot_id: botId, bot_name: name, handover_id: handoverId } = news
  const handover = await findHandover(db, botId, handoverId)
  return {
    id,
    type,
    createdAt: createdAt.toISOString(),
    bot: { id: botId, name },
    ...(handover && { handover: toHandover(handover) }),
    ...(news.account_id !== null && { memberId: news.account_id }),
    ...(news.message_id !== null && { messageId: news.message_id }),
  }
}

async function abandon({ db, metrics }: WorkerContext, news: News, problem: string): Promise<void> {
  metrics.webhookDrops.inc({ webhook: 'inbox' })
  await insertLog(db, {
    botId: news.bot_id,
    level: 'error',
    message: `Delivering ${news.type} of handover ${news.handover_id} to the webhook of the inbox failed after ${webhookAttempts} attempts: ${problem}`,
  })
}
