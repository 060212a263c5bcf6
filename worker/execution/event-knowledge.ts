import type { Json } from '#sandbox/protocol/contract.ts'
import type { Context } from '#shared/context.ts'
import type { FoundPassageView } from '#shared/models/passage.ts'
import { toTagConditions } from '#shared/models/tag-filter.ts'
import { isRecord } from '#shared/models/payload.ts'
import { nestTagQuery } from '#shared/rpc/tag-query.ts'
import { findNamedKnowledgeBases } from '#shared/store/knowledge-bases.ts'

const maxResults = 50
const maxCharacters = 128 * 1024

/**
 * The value of `event.kb` after a search of code that handles the event: the knowledge bases that the search covers, and
 * what it found.
 */
export async function eventKnowledge(
  { db }: Pick<Context, 'db'>,
  botId: string,
  query: Record<string, unknown>,
  passages: FoundPassageView[],
): Promise<Json> {
  const included = await findNamedKnowledgeBases(db, botId, namedKnowledgeBases(query))
  return {
    included: included.map(({ id, name, tags: own }) => ({ id, name, tags: own })),
    results: toResults(passages),
  }
}

/** The knowledge bases that the query of a search names. */
export function namedKnowledgeBases(query: Record<string, unknown>): {
  ids: string[] | undefined
  names: string[] | undefined
} {
  const { tags } = nestTagQuery(query)
  const conditions = toTagConditions(isRecord(tags) ? tags : {})
  const valuesOf = (name: string) => conditions.find(({ tag }) => tag === name)?.anyOf
  return { ids: valuesOf('kbId'), names: valuesOf('kbName') }
}

/** Passages as `event.kb.results` has them. */
export function toResults(passages: FoundPassageView[]): Json[] {
  const results: Json[] = []
  let left = maxCharacters
  for (const passage of passages.slice(0, maxResults)) {
    const result = toResult(passage)
    left -= JSON.stringify(result).length
    if (left < 0) break
    results.push(result)
  }
  return results
}

/** Tags and metadata of a file that a result repeats where they are texts. */
const repeated = ['dsId', 'dsType', 'kbId', 'kbName', 'title', 'url'] as const

function toResult({ content, score, meta, file }: FoundPassageView): Record<string, Json> {
  const textOf = (name: string) => {
    const value = file.metadata[name] ?? file.tags[name]
    return typeof value === 'string' ? value : undefined
  }
  const named = repeated.flatMap((name) => {
    const value = textOf(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    content,
    score,
    dsFriendlyName: textOf('title') ?? file.key.slice(file.key.lastIndexOf('/') + 1),
    fileId: file.id,
    key: file.key,
    ...Object.fromEntries(named),
    ...(meta.pageNumber !== undefined && { pageNumber: meta.pageNumber }),
    ...(meta.position !== undefined && { position: meta.position }),
  }
}
