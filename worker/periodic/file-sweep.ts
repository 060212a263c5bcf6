import type { Context } from '#shared/context.ts'
import { removeObject } from '#shared/files/objects.ts'
import { abandonedObjects, deleteExpiredFiles, failAbandonedUploads } from '#shared/store/file-sweep.ts'
import { repeatedly } from './repeatedly.ts'

/**
 * Deletes expired files, gives up uploads whose content has not come, and removes the contents that no file refers to:
 * those of replaced and deleted files, of deleted bots, and of uploads that a killed process has left.
 */

const restMilliseconds = 60_000
/** Rows that one statement reads. */
const batchSize = 1000
/** Maximum of batches of objects between two rests. */
const maxBatches = 20

/**
 * Starts to sweep periodically. Several workers may do it at once: every step can be repeated.
 *
 * @returns stops the sweep, and waits for one in flight
 */
export function startFileSweep(context: Context): () => Promise<void> {
  const sweep = openFileSweep(context)
  const stopping = new AbortController()
  const stop = repeatedly(restMilliseconds, async () => {
    if (context.dependencies.database.isUp()) await sweep.run(stopping.signal)
  })
  return () => {
    stopping.abort()
    return stop()
  }
}

/** Each run goes through the objects from where the last one has ended, and begins again at the end. */
export function openFileSweep(context: Context, batch = batchSize) {
  const { db, log } = context
  let cursor: string | undefined

  async function removeAbandoned(signal?: AbortSignal): Promise<void> {
    for (let batches = 0; batches < maxBatches; batches += 1) {
      const { ids, cursor: next } = await abandonedObjects(db, cursor, batch)
      for (const id of ids) {
        if (signal?.aborted) return
        await removeObject(context, id)
      }
      cursor = next
      if (next === undefined) return
    }
  }

  return {
    /** Never throws: a failure is logged, and the next run repeats the step. */
    async run(signal?: AbortSignal): Promise<void> {
      try {
        for (const id of await deleteExpiredFiles(db, batch)) await removeObject(context, id)
        await failAbandonedUploads(db, batch)
        await removeAbandoned(signal)
      } catch (error) {
        log.error({ err: error }, 'The sweep of files failed; retrying')
      }
    },
  }
}
