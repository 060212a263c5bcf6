import type { Context } from '../context.ts'
import type { TagCondition } from '../models/tag-filter.ts'
import { nearestPassages } from '../store/nearest-passages.ts'
import type { FoundPassage } from '../store/readable-passages.ts'
import type { Scope } from '../store/scope.ts'
import { EmbeddingsError } from '../embeddings/embeddings.ts'

/**
 * The passages that are about the same thing as a question. None without an endpoint of embeddings, or when it is slow
 * or fails: searches then compare words only.
 */
export async function similarPassages(
  { db, embeddings, log }: Pick<Context, 'db' | 'embeddings' | 'log'>,
  scope: Scope,
  question: string,
  tags: TagCondition[],
): Promise<FoundPassage[]> {
  if (!embeddings) return []
  const { model, memory } = embeddings
  try {
    const vector = await embeddings.embedQuestion(question)
    const nearest = await nearestPassages(db, scope, tags, { model, memory, vector })
    if (!nearest)
      log.warn({ botId: scope.botId }, 'A search left out vectors: the bot has more than EMBEDDINGS_MEMORY_MB')
    return nearest ?? []
  } catch (error) {
    if (!(error instanceof EmbeddingsError)) throw error
    log.warn({ err: error, botId: scope.botId }, 'A search compared words only')
    return []
  }
}
