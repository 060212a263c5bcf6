import { EmbeddingsError, PauseError, textsPerRequest, UnpaidError } from '#shared/embeddings/embeddings.ts'
import { embedTexts } from '#shared/files/embed-texts.ts'
import { wakeWorker } from '#shared/signals/after-commit.ts'
import {
  claimEmbedding,
  completeEmbedding,
  passagesWithoutVectors,
  postponeEmbedding,
  saveVectors,
} from '#shared/store/passage-vectors.ts'
import type { WorkerContext } from '../context.ts'

/** One job makes vectors for this long; another one goes on, so that other work gets its turn and stops are quick. */
const turnMilliseconds = 5000
/** A file whose worker was killed is due again after this. */
const leaseMilliseconds = 60_000

/** How often vectors of one file are tried before it is left without. The next start of a worker tries again. */
const maxAttempts = 10
const firstDelayMilliseconds = 10_000
const longestDelayMilliseconds = 3_600_000

/** Makes vectors of the passages of a file that have none. Its passages are found by their words meanwhile. */
export async function embedFile(worker: WorkerContext, fileId: string): Promise<void> {
  const { db, embeddings, log } = worker
  if (!embeddings) return
  const claim = await claimEmbedding(db, fileId, leaseMilliseconds)
  if (!claim) return
  const end = performance.now() + turnMilliseconds
  try {
    for (;;) {
      const passages = await passagesWithoutVectors(db, claim, embeddings.model, textsPerRequest)
      if (passages.length === 0) return await completeEmbedding(db, claim, embeddings.model)
      const texts = passages.map(({ breadcrumb, text }) => [...breadcrumb, text].join('\n'))
      const vectors = await embedTexts({ ...worker, embeddings }, claim.botId, 'passages', texts)
      const given = passages.map(({ id }, index) => ({ passageId: id, vector: vectors[index]! }))
      await saveVectors(db, embeddings.model, given)
      if (performance.now() > end) break
    }
    await postponeEmbedding(db, claim, { delayMilliseconds: 0 })
    await wakeWorker(worker, 'embed-file', fileId, claim.botId)
  } catch (error) {
    if (!(error instanceof EmbeddingsError)) throw error
    if (error instanceof PauseError) return postponeEmbedding(db, claim, { delayMilliseconds: error.milliseconds })
    const attempts = claim.attempts + 1
    const delay = Math.min(longestDelayMilliseconds, firstDelayMilliseconds * 2 ** claim.attempts)
    log.warn(
      { err: error, fileId, attempt: attempts },
      'Making vectors of a file failed: searches find it by its words',
    )
    // A budget begins anew, and a key can be changed at any time.
    const isTriedAgain = attempts < maxAttempts || error instanceof UnpaidError
    await postponeEmbedding(db, claim, {
      ...(isTriedAgain && { delayMilliseconds: delay }),
      failure: `Searches find the file by its words only. ${error.message}`,
    })
  }
}
