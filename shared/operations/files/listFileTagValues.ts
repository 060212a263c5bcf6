import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfFileTagValues } from '../../store/file-lists.ts'
import { pageInput, pageMeta, pageSizeOf, toMeta } from '../../store/pagination.ts'

export const listFileTagValues = operation({
  name: 'listFileTagValues',
  description: 'Lists the values of a tag of the files that the caller may read, in order.',
  method: 'GET',
  path: '/v1/files/tags/{tag}/values',
  access: 'bot',
  input: closedObject({ tag: { type: 'string' } }, pageInput),
  output: closedObject({ values: { type: 'array', items: { type: 'string' } }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const request = { limit: pageSizeOf(input), nextToken: input.nextToken }
    const page = await pageOfFileTagValues(db, caller, input.tag, request)
    return { values: page.rows, meta: toMeta(page) }
  },
})
