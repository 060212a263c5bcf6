import { closedObject, type Infer } from '../schema.ts'
import type { PassageRow } from './tables.ts'

/** The kinds of passages that callers may give. */
export const passageTypes = ['title', 'subtitle', 'paragraph', 'blockquote', 'list', 'table', 'code', 'image'] as const

export const passageMeta = closedObject(
  {},
  {
    type: { enum: ['chunk', 'summary', 'consolidated', 'image'] },
    subtype: { enum: [...passageTypes, 'page'] },
    pageNumber: { type: 'number', description: 'Of a PDF; the first is 1.' },
    position: { type: 'number', description: 'In the order of the document; the first is 0.' },
    sourceUrl: { type: 'string' },
  },
)

/** A part of an indexed file. */
export const passage = closedObject({
  id: { type: 'string' },
  content: { type: 'string' },
  meta: passageMeta,
})

/** A passage that a search found, with the file that it is part of. */
export const foundPassage = closedObject(
  {
    content: { type: 'string', description: 'The passage, with its neighbours in the document.' },
    score: { type: 'number', description: 'From 0 to 1, the higher the closer.' },
    meta: passageMeta,
    file: closedObject({
      id: { type: 'string' },
      key: { type: 'string' },
      contentType: { type: 'string' },
      metadata: { type: 'object' },
      tags: { type: 'object', additionalProperties: { type: 'string' } },
      createdAt: { type: 'string', format: 'date-time' },
      updatedAt: { type: 'string', format: 'date-time' },
    }),
  },
  {
    context: {
      type: 'array',
      items: closedObject(
        { text: { type: 'string' }, type: { enum: ['preceding', 'subsequent', 'current', 'breadcrumb'] } },
        { id: { type: 'string' }, offset: { type: 'number' } },
      ),
    },
  },
)

export type FoundPassageView = Infer<typeof foundPassage>

export function toPassageMeta({ subtype, page, position }: PassageRow): Infer<typeof passageMeta> {
  return {
    type: subtype === 'image' ? 'image' : 'chunk',
    subtype: subtype as (typeof passageTypes)[number],
    position,
    ...(page !== null && { pageNumber: page }),
  }
}
