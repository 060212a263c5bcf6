import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfFileTags } from '../../store/file-lists.ts'
import { pageInput, pageMeta, pageSizeOf, toMeta } from '../../store/pagination.ts'

export const listFileTags = operation({
  name: 'listFileTags',
  description: 'Lists the names of the tags of all files that the caller may read, in order.',
  method: 'GET',
  path: '/v1/files/tags',
  access: 'bot',
  input: closedObject({}, pageInput),
  output: closedObject({ tags: { type: 'array', items: { type: 'string' } }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const page = await pageOfFileTags(db, caller, { limit: pageSizeOf(input), nextToken: input.nextToken })
    return { tags: page.rows, meta: toMeta(page) }
  },
})
