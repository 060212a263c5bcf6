import { closedObject } from '../../schema.ts'
import { passage, toPassageMeta } from '../../models/passage.ts'
import { operation } from '../../rpc/operation.ts'
import { pageInput, pageMeta, pageSizeOf, toMeta } from '../../store/pagination.ts'
import { pageOfPassages } from '../../store/passages.ts'
import { findFile } from '../../store/runtime-files.ts'
import { noFile } from './not-found.ts'

export const listFilePassages = operation({
  name: 'listFilePassages',
  description: 'Lists the passages of an indexed file, in document order.',
  method: 'GET',
  path: '/v1/files/{id}/passages',
  access: 'bot',
  input: closedObject(
    { id: { type: 'string', description: 'Its id, or its key.' } },
    {
      ...pageInput,
      limit: { type: 'integer', minimum: 1, maximum: 200, description: 'In place of pageSize; 20 unless given.' },
    },
  ),
  output: closedObject({ passages: { type: 'array', items: passage }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const file = await findFile(db, caller, input.id)
    if (!file) throw noFile(input.id)
    const { limit = pageSizeOf(input), nextToken } = input
    const page = await pageOfPassages(db, file.id, { limit, nextToken })
    return {
      passages: page.rows.map((row) => ({ id: row.id, content: row.text, meta: toPassageMeta(row) })),
      meta: toMeta(page),
    }
  },
})
