import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { styled } from '../output.ts'

type FoundPassage = AnswerOf<'searchFiles'>['passages'][number]

/** The passages of a bot's files that match a question best. */
export async function searchFiles(
  { ask }: Connection,
  botId: string,
  { query, tags, limit }: { query: string; tags: Record<string, string>; limit: number },
): Promise<FoundPassage[]> {
  const given = { query, tags: JSON.stringify(tags), limit, contextDepth: 0, includeBreadcrumb: true }
  return (await ask<'searchFiles'>('GET', '/v1/files/search', { query: given, botId })).passages
}

/** Each passage below its score and file. */
export function formatPassages(passages: readonly FoundPassage[]): string {
  if (passages.length === 0) return 'Nothing was found'
  return passages
    .map(({ content, score, file, meta }) => {
      const page = meta.pageNumber === undefined ? '' : `, page ${meta.pageNumber}`
      return `${styled('bold', `${score.toFixed(2)}  ${file.key}${page}`)}\n${content}`
    })
    .join('\n\n')
}
