import { closedObject } from '../../schema.ts'
import { showFile } from '../../files/show-file.ts'
import { file } from '../../models/file.ts'
import { tagFilter, toTagConditions } from '../../models/tag-filter.ts'
import { operation } from '../../rpc/operation.ts'
import { nestTagQuery } from '../../rpc/tag-query.ts'
import { fileSortFields, pageOfFiles } from '../../store/file-lists.ts'
import { pageInput, pageMeta, pageSizeOf, toMeta } from '../../store/pagination.ts'

export const listFiles = operation({
  name: 'listFiles',
  description: 'Lists the files that the caller may read, the newest first.',
  method: 'GET',
  path: '/v1/files',
  access: 'bot',
  readQuery: nestTagQuery,
  input: closedObject(
    {},
    {
      ...pageInput,
      sortField: { enum: fileSortFields, description: 'createdAt unless given.' },
      sortDirection: { enum: ['asc', 'desc'], description: 'desc unless given.' },
      tags: tagFilter,
      ids: { type: 'array', maxItems: 50, items: { type: 'string' }, description: 'Only these.' },
      indexed: { type: 'boolean', description: 'Only those that searches find, or only the others.' },
    },
  ),
  output: closedObject({ files: { type: 'array', items: file }, meta: pageMeta }),

  async handle(context, input) {
    const { ids, indexed, nextToken, sortField = 'createdAt', sortDirection } = input
    const page = await pageOfFiles(
      context.db,
      context.caller,
      { tags: toTagConditions(input.tags), ids, indexed },
      { limit: pageSizeOf(input), nextToken, sortField, ascending: sortDirection === 'asc' },
    )
    return { files: page.rows.map((row) => showFile(context, row)), meta: toMeta(page) }
  },
})
