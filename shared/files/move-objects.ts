import { isOutage } from '../errors.ts'
import type { StoreName } from '../config/s3-settings.ts'
import { fileObjectsIn, isInUse, replaceObject, type FileObject } from '../store/file-objects.ts'
import { readObject, removeObject, writeObject, type ObjectContext } from './objects.ts'

/** Objects that one statement finds. */
const batchSize = 100

/** How a move went so far. */
export interface MoveProgress {
  /** Contents that are in the other store now. */
  moved: number
  /** Their bytes. */
  bytes: number
  /** Contents that stay where they are, with the reason. */
  failures: { objectId: string; message: string }[]
}

/**
 * Moves the contents of all files to one store, object by object, while the platform serves them: each is written to a new
 * object, which its file then refers to. Interrupted at any time, it has moved some of them, and another run moves the
 * rest; the sweep removes what an interruption leaves, and the former objects.
 *
 * @param signal ends the move before the next object
 * @param report called after each object
 */
export async function moveObjects(
  context: ObjectContext,
  to: StoreName,
  { signal, report }: { signal?: AbortSignal; report?: (progress: MoveProgress) => void } = {},
): Promise<MoveProgress> {
  const progress: MoveProgress = { moved: 0, bytes: 0, failures: [] }
  const store = to === 's3' ? 'postgres' : 's3'
  let from = ''
  for (;;) {
    const objects = await fileObjectsIn(context.db, store, { from, limit: batchSize })
    for (const object of objects) {
      if (signal?.aborted) return progress
      await count(context, progress, object, moveObject(context, object, to))
      report?.(progress)
    }
    if (objects.length < batchSize) return progress
    from = objects.at(-1)!.id
  }
}

async function count(
  { db }: ObjectContext,
  progress: MoveProgress,
  { id, size }: FileObject,
  moving: Promise<boolean>,
): Promise<void> {
  try {
    if (!(await moving)) return
    progress.moved += 1
    progress.bytes += size
  } catch (error) {
    // A store or a database that does not answer fails for each of them.
    if (isOutage(error)) throw error
    // The file was deleted, or upserted, while its content was read.
    if (!(await isInUse(db, id))) return
    progress.failures.push({ objectId: id, message: error instanceof Error ? error.message : String(error) })
  }
}

/** @returns whether it was moved; not when its file is deleted or has another content meanwhile */
async function moveObject(context: ObjectContext, object: FileObject, to: StoreName): Promise<boolean> {
  const { id, size, sha256, botId } = object
  const copy = await writeObject(context, botId, readObject(context, object), { limit: size, length: size, store: to })
  const isSame = copy.sha256 === sha256
  // When this fails it may be done: the sweep finds out whether the file has the copy.
  const isMoved = isSame && (await replaceObject(context.db, id, copy.id))
  if (!isMoved) await removeObject(context, copy.id)
  if (!isSame) throw new Error('Its bytes are not those that were uploaded')
  return isMoved
}
