import type { Json, JsonObject } from '#sandbox/protocol/contract.ts'
import type { FoundPassageView } from '#shared/models/passage.ts'
import { isRecord } from '#shared/models/payload.ts'
import { exampleId } from '#shared/openapi/example-values.ts'
import { namedKnowledgeBases, toResults } from '../../worker/execution/event-knowledge.ts'

/** The author's answer to a search, with the fields that it leaves out: `{ passages: [{ content: '…' }] }`. */
export function completeSearch(answer: JsonObject): JsonObject {
  const { passages } = answer
  if (!Array.isArray(passages)) return answer
  return {
    ...answer,
    passages: passages.map((passage) => (isRecord(passage) ? completePassage(passage) : passage)) as Json,
  }
}

function completePassage(given: Record<string, unknown>): object {
  const now = new Date().toISOString()
  const file = {
    id: exampleId('file'),
    key: 'example.md',
    contentType: 'text/markdown',
    metadata: {},
    tags: {},
    createdAt: now,
    updatedAt: now,
  }
  return { content: '', score: 1, meta: {}, ...given, file: { ...file, ...(isRecord(given['file']) && given['file']) } }
}

/** The value of `event.kb` after a search of a dry run, which has the knowledge bases that the search names. */
export function knowledgeOf(input: JsonObject, answer: JsonObject): Json {
  const { ids = [], names = [] } = namedKnowledgeBases(input)
  const id = exampleId('knowledgeBase')
  const included = [...ids.map((each) => ({ id: each, name: each })), ...names.map((name) => ({ id, name }))]
  return {
    included: included.map((each) => ({ ...each, tags: {} })),
    results: toResults((answer['passages'] ?? []) as unknown as FoundPassageView[]),
  }
}
