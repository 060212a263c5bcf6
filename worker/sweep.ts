import type { Context } from '#shared/context.ts'
import { deleteAbandonedInspections } from '#shared/store/inspections.ts'
import { forgottenMailboxes } from '#shared/store/mailboxes.ts'
import { deleteOldSignals } from '#shared/store/conversation-log.ts'
import { deleteOldLargeSignals } from '#shared/store/signals.ts'
import { deleteOldBodies } from '#shared/store/webhook-bodies.ts'
import { forgottenWebhooks } from '#shared/store/webhook-cursors.ts'
import { repeatedly } from './repeatedly.ts'

/** Mailboxes woken in one sweep. */
const atOnce = 1000

/**
 * Looks now and then for what has waited too long and wakes it: the net under lost jobs. It lives in the worker and not
 * in the queue, since the queue is what may have been lost.
 *
 * @returns stops it, and waits for a sweep that is under way
 */
export function startSweep(context: Context): () => Promise<void> {
  const { config, log } = context
  return repeatedly(config.worker.sweepMilliseconds, () =>
    sweep(context).catch((error: unknown) => log.error({ err: error }, 'The sweep failed; the next one follows')),
  )
}

async function sweep({ db, queue, config, log }: Context): Promise<void> {
  const mailboxes = await forgottenMailboxes(db, config.worker.sweepMilliseconds, atOnce)
  if (mailboxes.length > 0) log.info({ mailboxes: mailboxes.length }, 'Waking mailboxes that have waited long')
  for (const mailbox of mailboxes) await queue.wake('event', mailbox)
  const webhooks = await forgottenWebhooks(db, config.worker.sweepMilliseconds, atOnce)
  for (const conversationId of webhooks) await queue.wake('webhook', conversationId)
  await deleteOldLargeSignals(db)
  await deleteOldSignals(db)
  await deleteAbandonedInspections(db)
  await deleteOldBodies(db)
}
