import { closedObject, type Infer } from '../schema.ts'
import type { KnowledgeBaseRow } from './tables.ts'
import { tags } from './tags.ts'

/** A name under which files are collected: they belong to it by their tags. */
export const knowledgeBase = closedObject({ id: { type: 'string' }, name: { type: 'string' }, tags })

/** A knowledge base in a list. */
export const listedKnowledgeBase = closedObject({
  ...knowledgeBase.properties,
  createdAt: { type: 'string', format: 'date-time' },
})

export const knowledgeBaseName = { type: 'string', minLength: 1, maxLength: 200 } as const

export function toKnowledgeBase({ id, name, tags: own }: KnowledgeBaseRow): Infer<typeof knowledgeBase> {
  return { id, name, tags: own }
}

export function toListedKnowledgeBase(row: KnowledgeBaseRow): Infer<typeof listedKnowledgeBase> {
  return { ...toKnowledgeBase(row), createdAt: row.created_at.toISOString() }
}
