import { closedObject } from '../../schema.ts'
import { pageMeta, toMeta } from '../../store/pagination.ts'
import { filterInput, sortedPageRequest, sortInput } from '../../store/listing.ts'
import { runtimeConversation, toRuntimeConversation } from '../../models/conversation.ts'
import { toStoredTags } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfRuntimeConversations } from '../../store/runtime-conversations.ts'

/** The range of the database column. */
const messageCount = { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 } as const

export const listConversations = operation({
  name: 'listConversations',
  description: 'Lists the bot’s conversations, or those of the calling integration, the newest first.',
  method: 'GET',
  path: '/v1/chat/conversations',
  access: 'bot',
  input: closedObject(
    {},
    {
      ...sortInput,
      ...filterInput,
      participantIds: {
        type: 'array',
        maxItems: 100,
        items: { type: 'string' },
        description: 'Only conversations in which all of these users participate.',
      },
      integrationName: { type: 'string' },
      channel: { type: 'string' },
      minMessageCount: messageCount,
      maxMessageCount: messageCount,
    },
  ),
  output: closedObject({ conversations: { type: 'array', items: runtimeConversation }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const filters = { ...input, tags: toStoredTags(caller, input.tags) }
    const page = await pageOfRuntimeConversations(db, caller, filters, sortedPageRequest(input))
    return { conversations: page.rows.map((row) => toRuntimeConversation(row, caller)), meta: toMeta(page) }
  },
})
