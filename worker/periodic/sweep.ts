import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from '#shared/context.ts'
import { deleteExpiredAuthorizations } from '#shared/store/authorizations.ts'
import { deleteAbandonedInspections } from '#shared/store/inspections.ts'
import { deleteAbandonedScriptChecks } from '#shared/store/script-checks.ts'
import { deleteAbandonedScriptRuns } from '#shared/store/script-runs.ts'
import { overdueMailboxes } from '#shared/store/mailboxes.ts'
import { dueEmbeddings, makeEmbeddingsDue } from '#shared/store/passage-vectors.ts'
import { deleteFormerPassages, overdueFiles } from '#shared/store/indexing.ts'
import { deleteOldSignals } from '#shared/store/conversation-log.ts'
import { overdueRecomputes } from '#shared/store/bot-tables.ts'
import { overdueTableJobs } from '#shared/store/table-jobs.ts'
import { deleteOldLargeSignals } from '#shared/store/signals.ts'
import { deleteOldBodies } from '#shared/store/webhook-bodies.ts'
import { overdueWebhooks } from '#shared/store/webhook-cursors.ts'
import { repeatedly } from './repeatedly.ts'

/** Rows of each kind that one query finds. */
const batchSize = 1000
/** Searches for mailboxes, where one is not enough, may take this part of the time: each reads all waiting events. */
const partOfTime = 1 / 10
const minPauseMilliseconds = 1000

/**
 * Periodically wakes mailboxes and webhooks that have waited too long, because their jobs may be lost. It runs in the
 * worker and not in the queue, because the queue may have lost its data.
 *
 * @returns stops the sweep, and waits for one in flight
 */
export function startSweep(context: Context): () => Promise<void> {
  const { config, dependencies, log } = context
  const stopping = new AbortController()
  async function look(waitedMilliseconds: number): Promise<void> {
    if (dependencies.all.some((dependency) => !dependency.isUp())) return
    try {
      await sweep(context, waitedMilliseconds, stopping.signal)
    } catch (error) {
      log.error({ err: error }, 'The sweep failed; retrying')
    }
  }
  let afterReturn = Promise.resolve()
  const ends = dependencies.all.map((dependency) =>
    // During the outage no wake-up could be queued, and Redis may have lost its data.
    dependency.onReturn(() => void (afterReturn = afterReturn.then(() => look(0)))),
  )
  const stop = repeatedly(config.worker.sweepMilliseconds, () => look(config.worker.sweepMilliseconds))
  return async () => {
    stopping.abort()
    for (const end of ends) end()
    await Promise.all([stop(), afterReturn])
  }
}

/** @param waitedMilliseconds how long a mailbox must have waited without a run to be woken */
async function sweep(context: Context, waitedMilliseconds: number, stopping: AbortSignal): Promise<void> {
  const { db, queue, config } = context
  const end = performance.now() + config.worker.sweepMilliseconds
  let took = await wakeMailboxes(context, waitedMilliseconds)
  const webhooks = await overdueWebhooks(db, waitedMilliseconds, batchSize)
  for (const { conversation_id: id, bot_id: botId } of webhooks) await queue.wakeOverdue('webhook', id, botId)
  const files = await overdueFiles(db, waitedMilliseconds, batchSize)
  for (const { id, bot_id: botId } of files) await queue.wakeOverdue('index-file', id, botId)
  const jobs = await overdueTableJobs(db, waitedMilliseconds, batchSize)
  for (const { id, bot_id: botId } of jobs) await queue.wakeOverdue('table-job', id, botId)
  const tables = await overdueRecomputes(db, waitedMilliseconds, batchSize)
  for (const { id, bot_id: botId } of tables) await queue.wakeOverdue('recompute-rows', id, botId)
  await wakeForEmbeddings(context)
  await deleteFormerPassages(db, batchSize)
  await deleteOldLargeSignals(db)
  await deleteOldSignals(db)
  await deleteAbandonedInspections(db)
  await deleteAbandonedScriptRuns(db)
  await deleteAbandonedScriptChecks(db)
  await deleteExpiredAuthorizations(db)
  await deleteOldBodies(db)
  // After the loss of the queue there may be far more than one search finds. The next sweep does the rest.
  while (took !== undefined && performance.now() < end && !stopping.aborted) {
    const milliseconds = Math.max(minPauseMilliseconds, took / partOfTime)
    await pause(milliseconds, undefined, { signal: stopping }).catch(() => {})
    took = await wakeMailboxes(context, waitedMilliseconds)
  }
}

/** Wakes mailboxes that have waited too long. @returns the milliseconds of the search, where it may not have found all */
async function wakeMailboxes(context: Context, waitedMilliseconds: number): Promise<number | undefined> {
  const { db, queue, config, log } = context
  const begin = performance.now()
  const which = { waitedMilliseconds, runMilliseconds: config.worker.sweepMilliseconds, limit: batchSize }
  const mailboxes = await overdueMailboxes(db, which)
  const took = performance.now() - begin
  if (mailboxes.length > 0) log.info({ mailboxes: mailboxes.length }, 'Waking mailboxes that have waited too long')
  await Promise.all(mailboxes.map(({ mailbox, bot_id: botId }) => queue.wakeOverdue('event', mailbox, botId)))
  return mailboxes.length < batchSize ? undefined : took
}

/** Processes in which all files from before the present model have been made due. */
const caughtUp = new WeakSet<Context>()

async function wakeForEmbeddings(context: Context): Promise<void> {
  const { db, queue, embeddings } = context
  if (!embeddings) return
  if (!caughtUp.has(context)) {
    const made = await makeEmbeddingsDue(db, embeddings.model, batchSize)
    if (made < batchSize) caughtUp.add(context)
  }
  for (const { id, bot_id: botId } of await dueEmbeddings(db, batchSize))
    await queue.wakeOverdue('embed-file', id, botId)
}
