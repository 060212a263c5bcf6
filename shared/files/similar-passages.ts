import type { Context } from '../context.ts'
import type { TagCondition } from '../models/tag-filter.ts'
import { nearestPassages } from '../store/nearest-passages.ts'
import type { FoundPassage } from '../store/readable-passages.ts'
import type { Scope } from '../store/scope.ts'
import { EmbeddingsError } from '../embeddings/embeddings.ts'
import { embedTexts } from './embed-texts.ts'

/**
 * The passages that are about the same thing as a question. None without an endpoint of embeddings, when it is slow or fails,
 * and when a budget is used up: searches then compare words only.
 */
export async function similarPassages(
  context: Pick<Context, 'db' | 'config' | 'embeddings' | 'metrics' | 'log'>,
  scope: Scope,
  question: string,
  tags: TagCondition[],
): Promise<FoundPassage[]> {
  const { db, embeddings, log } = context
  if (!embeddings) return []
  const { model, memory } = embeddings
  try {
    const [vector] = await embedTexts({ ...context, embeddings }, scope.botId, 'question', [question])
    const nearest = await nearestPassages(db, scope, tags, { model, memory, vector: vector! })
    if (!nearest)
      log.warn({ botId: scope.botId }, 'A search left out vectors: the bot has more than EMBEDDINGS_MEMORY_MB')
    return nearest ?? []
  } catch (error) {
    if (!(error instanceof EmbeddingsError)) throw error
    log.warn({ err: error, botId: scope.botId }, 'A search compared words only')
    return []
  }
}
