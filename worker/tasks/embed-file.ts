import { EmbeddingsError, isOfTexts, PauseError, textsPerRequest, UnpaidError } from '#shared/embeddings/embeddings.ts'
import { embedTexts } from '#shared/files/embed-texts.ts'
import { wakeWorker } from '#shared/signals/after-commit.ts'
import {
  claimEmbedding,
  completeEmbedding,
  markWithoutVectors,
  passagesWithoutVectors,
  postponeEmbedding,
  saveVectors,
  type PassageText,
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

/**
 * Makes vectors of the passages of a file that have none. Its passages are found by their words meanwhile, and so are those of
 * which the model makes no vector.
 */
export async function embedFile(worker: WorkerContext, fileId: string): Promise<void> {
  const { db, embeddings, log } = worker
  if (!embeddings) return
  const claim = await claimEmbedding(db, fileId, leaseMilliseconds)
  if (!claim) return
  const { model } = embeddings
  const end = performance.now() + turnMilliseconds
  /** Attempts that have failed since the last vectors of the file. */
  let failures = claim.attempts
  try {
    for (;;) {
      const passages = await passagesWithoutVectors(db, claim, model, textsPerRequest)
      if (passages.length === 0) return await completeEmbedding(db, claim, model, reasonOf)
      const asked = await vectorsOf({ ...worker, embeddings }, claim.botId, { passages, end })
      // Kept beyond the turn: the next one would ask for them again, and may come no further.
      await markWithoutVectors(
        db,
        model,
        asked.flatMap(({ passageId, vector }) => (vector ? [] : passageId)),
      )
      await saveVectors(
        db,
        model,
        asked.flatMap(({ passageId, vector }) => (vector ? { passageId, vector } : [])),
      )
      failures = 0
      if (performance.now() > end) break
    }
    await postponeEmbedding(db, claim, { attempts: 0, delayMilliseconds: 0 })
    await wakeWorker(worker, 'embed-file', fileId, claim.botId)
  } catch (error) {
    if (!(error instanceof EmbeddingsError)) throw error
    if (error instanceof PauseError) {
      return postponeEmbedding(db, claim, { attempts: failures, delayMilliseconds: error.milliseconds })
    }
    const attempts = failures + 1
    const delay = Math.min(longestDelayMilliseconds, firstDelayMilliseconds * 2 ** failures)
    log.warn(
      { err: error, fileId, attempt: attempts },
      'Making vectors of a file failed: searches find it by its words',
    )
    // A budget begins anew, and a key can be changed at any time.
    const isTriedAgain = attempts < maxAttempts || error instanceof UnpaidError
    await postponeEmbedding(db, claim, {
      attempts,
      ...(isTriedAgain && { delayMilliseconds: delay }),
      failure: `Searches find the file by its words only. ${error.message}`,
    })
  }
}

interface Asked {
  passageId: string
  /** Absent: the model makes none of this text. */
  vector?: Float32Array | undefined
}

/**
 * Makes vectors of passages. Where the model makes none of some text among them, each is asked for by itself, until the end of the
 * turn.
 *
 * @returns the passages that were asked for
 * @throws EmbeddingsError when the endpoint makes no vector of any text
 */
async function vectorsOf(
  worker: Parameters<typeof embedTexts>[0],
  botId: string,
  { passages, end }: { passages: PassageText[]; end: number },
): Promise<Asked[]> {
  const embed = (given: Pick<PassageText, 'breadcrumb' | 'text'>[]) =>
    embedTexts(
      worker,
      botId,
      'passages',
      given.map(({ breadcrumb, text }) => [...breadcrumb, text].join('\n')),
    )
  try {
    const vectors = await embed(passages)
    return passages.map(({ id: passageId }, index) => ({ passageId, vector: vectors[index] }))
  } catch (error) {
    if (!isOfTexts(error)) throw error
    const asked: Asked[] = []
    for (const passage of passages) {
      // One passage alone was asked for just now.
      const [vector] = passages.length === 1 ? [] : await embed([passage]).catch(withoutRefusal)
      asked.push({ passageId: passage.id, vector })
      if (performance.now() > end) break
    }
    // A text that every model takes tells whether the endpoint makes vectors at all.
    if (asked.every(({ vector }) => vector === undefined)) {
      await embed([plainPassage]).catch((cause: unknown) => {
        throw isOfTexts(cause) ? error : cause
      })
    }
    return asked
  }
}

function withoutRefusal(error: unknown): [] {
  if (!isOfTexts(error)) throw error
  return []
}

const plainPassage: Pick<PassageText, 'breadcrumb' | 'text'> = { breadcrumb: [], text: 'The shop is open on weekdays.' }

/** @param count the passages of a file that have no vector */
function reasonOf(count: number): string | null {
  return count === 0 ? null : `Searches find ${count} of its passages by words only: the model makes no vectors of them`
}
