import { closedObject } from '../../schema.ts'
import { pageMeta, toMeta } from '../../store/pagination.ts'
import { filterInput, sortedPageRequest, sortInput, toTimeColumn } from '../../store/listing.ts'
import { toStoredTags } from '../../models/tags.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfRuntimeUsers } from '../../store/runtime-users.ts'

export const listUsers = operation({
  name: 'listUsers',
  description: 'Lists the bot’s users, or those of the calling integration, the newest first.',
  method: 'GET',
  path: '/v1/chat/users',
  access: 'bot',
  input: closedObject(
    {},
    {
      ...sortInput,
      ...filterInput,
      rangeField: { enum: ['createdAt', 'updatedAt'], description: 'The time that afterDate and beforeDate compare.' },
      conversationId: { type: 'string', description: 'Only participants of this conversation.' },
    },
  ),
  output: closedObject({ users: { type: 'array', items: runtimeUser }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const filters = { ...input, tags: toStoredTags(caller, input.tags), range: toTimeColumn(input.rangeField) }
    const page = await pageOfRuntimeUsers(db, caller, filters, sortedPageRequest(input))
    return { users: page.rows.map((row) => toRuntimeUser(row, caller)), meta: toMeta(page) }
  },
})
