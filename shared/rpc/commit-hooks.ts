import type { Context } from '../context.ts'
import { logUnpublished } from '../signals/after-commit.ts'
import type { Database } from '../store/database.ts'

/** A context whose writes belong to one transaction, and the work that follows the commit. */
export interface DeferredContext {
  context: Context
  /**
   * Runs the commit hooks, in order. Errors are logged: as after a crash at this point, the sweep wakes workers whose
   * wake-up is missing, and listeners find entries whose signal is missing in the log.
   */
  follow(): Promise<void>
}

/** Makes a context whose writes go through a transaction, and whose signals and wake-ups wait for the commit. */
export function deferUntilCommit(context: Context, transaction: Database): DeferredContext {
  const { queue, signals, installations } = context
  const waiting: (() => Promise<void>)[] = []
  const later = async (act: () => Promise<void>) => void waiting.push(act)
  return {
    context: {
      ...context,
      db: transaction,
      queue: {
        ...queue,
        wake: (...wake) => later(() => queue.wake(...wake)),
        wakeLater: (...wake) => later(() => queue.wakeLater(...wake)),
        inspect: (...inspection) => later(() => queue.inspect(...inspection)),
      },
      signals: { ...signals, publish: (topic, signal) => later(() => signals.publish(topic, signal)) },
      installations: { ...installations, changed: (webhookId) => later(() => installations.changed(webhookId)) },
    },
    async follow() {
      for (const act of waiting) {
        try {
          await act()
        } catch (error) {
          logUnpublished(context, error, {}, 'Work after a commit failed; the sweep repeats it')
        }
      }
    },
  }
}
