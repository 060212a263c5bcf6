import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { toConsolidated, toResult } from '../../files/search-results.ts'
import { foundPassage } from '../../models/passage.ts'
import { tagFilter, toTagConditions, type TagCondition } from '../../models/tag-filter.ts'
import type { PassageRow } from '../../models/tables.ts'
import { operation } from '../../rpc/operation.ts'
import { nestTagQuery } from '../../rpc/tag-query.ts'
import type { Database } from '../../store/database.ts'
import { findNamedKnowledgeBases } from '../../store/knowledge-bases.ts'
import { passagesBetween } from '../../store/passages.ts'
import type { FoundPassage } from '../../store/readable-passages.ts'
import { filesOf, searchPassages } from '../../store/search-passages.ts'
import { similarPassages } from '../../files/similar-passages.ts'

const maxQueryBytes = 2048

export const searchFiles = operation({
  name: 'searchFiles',
  description: 'Finds the passages of indexed files that match a question best.',
  method: 'GET',
  path: '/v1/files/search',
  access: 'bot',
  errors: ['InvalidQuery'],
  readQuery: nestTagQuery,
  input: closedObject(
    { query: { type: 'string', minLength: 1, description: 'A question, or words; at most 2048 bytes.' } },
    {
      tags: tagFilter,
      limit: { type: 'integer', minimum: 1, maximum: 50, description: '20 unless given.' },
      contextDepth: {
        type: 'integer',
        minimum: 0,
        maximum: 10,
        description: 'How many neighbours on each side are part of the content; 1 unless given.',
      },
      consolidate: { type: 'boolean', description: 'One result for each file, with all that was found in it.' },
      includeBreadcrumb: { type: 'boolean', description: 'The content begins with the headings above it.' },
      withContext: { type: 'boolean', description: 'The parts of the content are named in `context`.' },
    },
  ),
  output: closedObject({ passages: { type: 'array', items: foundPassage } }),

  async handle(context, input) {
    const { db, caller } = context
    const { query, limit = 20, contextDepth = 1, includeBreadcrumb = false, withContext = false } = input
    if (Buffer.byteLength(query) > maxQueryBytes || !query.isWellFormed() || query.includes('\0')) {
      throw new ApiError('InvalidQuery', `The query must be text of at most ${maxQueryBytes} bytes`)
    }
    const tags = await withKnowledgeBases(db, caller.botId, toTagConditions(input.tags))
    const nearest = similarPassages(context, caller, query, tags)
    const found = await searchPassages(db, caller, { query, tags, limit }, nearest)
    const files = await filesOf(db, [...new Set(found.map((passage) => passage.file_id))])
    // A file may have been deleted since it was found.
    const present = found.filter((passage) => files.has(passage.file_id))
    const neighboursOf = await neighbours(present, contextDepth, (ranges) => passagesBetween(db, ranges))
    if (input.consolidate) return { passages: toConsolidated(present, files, neighboursOf) }
    const options = { contextDepth, includeBreadcrumb, withContext }
    return {
      passages: present.map((each) => toResult(each, files.get(each.file_id)!, neighboursOf(each), options)),
    }
  },
})

/**
 * Files belong to a knowledge base by its id, in the tag `kbId`; published programs name it in a tag `kbName` too. A search by
 * the name finds the files of either.
 */
async function withKnowledgeBases(db: Database, botId: string, conditions: TagCondition[]): Promise<TagCondition[]> {
  const named = conditions.find(({ tag }) => tag === 'kbName')
  if (!named?.anyOf) return conditions
  const bases = await findNamedKnowledgeBases(db, botId, { ids: undefined, names: named.anyOf })
  const or = { tag: 'kbId', anyOf: bases.map(({ id }) => id) }
  return conditions.map((condition) => (condition === named ? { ...condition, or } : condition))
}

/** Fetches the passages around those that were found. */
async function neighbours(
  found: FoundPassage[],
  depth: number,
  fetch: (ranges: { fileId: string; from: number; to: number }[]) => Promise<PassageRow[]>,
): Promise<(passage: FoundPassage) => PassageRow[]> {
  if (depth === 0) return (passage) => [passage]
  const rows = await fetch(
    found.map(({ file_id: fileId, position }) => ({ fileId, from: position - depth, to: position + depth })),
  )
  const byPosition = new Map(rows.map((row) => [`${row.file_id} ${row.position}`, row]))
  return ({ file_id: fileId, position, ...rest }) => {
    const positions = Array.from({ length: 2 * depth + 1 }, (_, index) => position - depth + index)
    return positions.flatMap((each) => {
      // Passages that were found stay, even if the file was indexed anew meanwhile.
      if (each === position) return [{ file_id: fileId, position, ...rest }]
      return byPosition.get(`${fileId} ${each}`) ?? []
    })
  }
}
