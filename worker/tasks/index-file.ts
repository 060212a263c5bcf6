import type { Chunking, Passage } from '#sandbox/extractor/contract.ts'
import { isOutage } from '#shared/errors.ts'
import { formatOf, unknownFormat } from '#shared/files/document-format.ts'
import { readObject } from '#shared/files/objects.ts'
import { isRecord } from '#shared/models/payload.ts'
import { InterruptedError } from '#shared/queue/queue.ts'
import { wakeWorker } from '#shared/signals/after-commit.ts'
import {
  beginIndexing,
  completeIndexing,
  failIndexing,
  findIndexing,
  IndexQuotaError,
  isStillIndexed,
  releaseIndexing,
  type IndexingClaim,
} from '#shared/store/indexing.ts'
import type { WorkerContext } from '../context.ts'

/** How often the indexing of one content begins before it is given up. */
const maxAttempts = 3

/** Lengths of the passages of files whose upsert does not say. */
const usualChunking: Chunking = { minimumParagraphLength: 200, maximumChunkLength: 1000 }

/**
 * Divides a file into passages that searches find. The file's row says what to do; it is left as it was when this is
 * interrupted, and another job begins again.
 *
 * @throws InterruptedError when an attempt failed and another one follows
 */
export async function indexFile(worker: WorkerContext, fileId: string): Promise<void> {
  const { db, metrics } = worker
  const claim = await findIndexing(db, fileId)
  if (!claim) return
  const stopTimer = metrics.indexingSeconds.startTimer()
  let outcome: Outcome = 'interrupted'
  try {
    outcome = await attempt(worker, claim)
  } finally {
    stopTimer()
    metrics.indexings.inc({ outcome })
  }
}

/** How an attempt ends; `overtaken`: the file was deleted, or upserted again. */
type Outcome = 'completed' | 'overtaken' | 'refused' | 'failed' | 'interrupted'

/** @throws InterruptedError, or a lost connection */
async function attempt(worker: WorkerContext, claim: IndexingClaim): Promise<Outcome> {
  const { db, config, log } = worker
  const { fileId } = claim
  let attempts = 0
  const fail = async (outcome: Outcome, reason: string) => {
    await failIndexing(db, claim, reason)
    return outcome
  }
  const begin = async () => {
    const begun = await beginIndexing(db, claim)
    if (begun === undefined) throw new OvertakenError()
    attempts = begun
    if (attempts > maxAttempts) throw new GivenUpError('Indexing the file was interrupted several times')
  }
  try {
    if (!claim.object) await begin()
    const passages = claim.object ? await extract(worker, claim, claim.object, begin) : undefined
    const isCompleted = await completeIndexing(db, claim, passages, config)
    if (isCompleted && config.embeddings) await wakeWorker(worker, 'embed-file', fileId, claim.botId)
    return isCompleted ? 'completed' : 'overtaken'
  } catch (error) {
    if (error instanceof OvertakenError) return 'overtaken'
    if (error instanceof GivenUpError) return fail('failed', error.message)
    if (error instanceof NotIndexableError || error instanceof IndexQuotaError) return fail('refused', error.message)
    if (isOutage(error)) {
      if (attempts > 0) await releaseIndexing(db, claim)
      throw error
    }
    // Its content was removed with the file, or replaced, while it was read.
    if (!(await isStillIndexed(db, claim))) return 'overtaken'
    log.warn({ err: error, fileId, attempt: attempts }, 'Indexing a file failed')
    if (attempts >= maxAttempts) {
      return fail('failed', 'Indexing the file failed several times: upload it again, or ask the operator')
    }
    throw new InterruptedError(`Indexing the file ${fileId} failed: ${String(error)}`)
  }
}

/** The file cannot be indexed, by its own content. The message is for the person who uploaded it. */
class NotIndexableError extends Error {
  override name = 'NotIndexableError'
}

/** The file was deleted, or upserted again, before its turn came. */
class OvertakenError extends Error {
  override name = 'OvertakenError'
}

/** The last attempt was interrupted too. */
class GivenUpError extends Error {
  override name = 'GivenUpError'
}

/**
 * @param begin is called when the turn of the file has come
 * @throws NotIndexableError, or the error of `begin`
 */
async function extract(
  worker: WorkerContext,
  { botId, key, contentType, indexing }: IndexingClaim,
  object: NonNullable<IndexingClaim['object']>,
  begin: () => Promise<void>,
): Promise<Iterable<Passage>> {
  const { sandbox, config } = worker
  const format = formatOf(key, contentType)
  if (!format) throw new NotIndexableError(unknownFormat(contentType))
  const charset = /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(contentType)?.[1]
  const task = {
    format,
    ...(charset !== undefined && { charset }),
    chunking: chunkingOf(indexing),
    maxPassages: config.knowledge.maxFilePassages,
  }
  const extraction = await sandbox.extractor.extract(botId, task, async () => {
    await begin()
    return readObject(worker, object)
  })
  if (extraction.status === 'refused') throw new NotIndexableError(extraction.reason)
  return extraction.passages
}

/** Reads the lengths of the configuration of an upsert, which the API has checked. */
function chunkingOf(indexing: IndexingClaim['indexing']): Chunking {
  const configuration = field(indexing, 'configuration')
  const minimum = field(field(configuration, 'parsing'), 'minimumParagraphLength')
  const maximum = field(field(configuration, 'chunking'), 'maximumChunkLength')
  return {
    minimumParagraphLength: typeof minimum === 'number' ? minimum : usualChunking.minimumParagraphLength,
    maximumChunkLength: typeof maximum === 'number' ? maximum : usualChunking.maximumChunkLength,
  }
}

function field(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}
