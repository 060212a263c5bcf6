import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { listedConversation, toListedConversation } from '../../models/transcript.ts'
import { operation } from '../../rpc/operation.ts'
import { readingInput, readingOutput } from '../../rpc/reading.ts'
import { maxRead, searchConversations } from '../../store/conversation-search.ts'
import { encodeCursor, pageInput, pageMeta, pageRequest } from '../../store/pagination.ts'
import { findOwnBot } from './find-version.ts'

const words = { type: 'string', minLength: 1, maxLength: 200 } as const

export const listBotConversations = operation({
  name: 'listBotConversations',
  description:
    'Lists the conversations of a bot that have messages, those with the newest message first. A page reads at most ' +
    `${maxRead.toLocaleString('en')} conversations, or messages with userId, text or timeEnd, for one to two seconds: with a filter that few conversations pass, it ` +
    'may have few or none and still a nextToken. With `text`, a later page may repeat a conversation, with an older ' +
    'message that has the text. The audit log has who listed them. Not for viewers.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/conversations',
  access: 'developer',
  stability: 'experimental',
  recordsReading: true,
  errors: ['ResourceNotFound', 'InvalidQuery', 'LimitExceeded'],
  input: closedObject(
    { botId: { type: 'string' } },
    {
      ...pageInput,
      ...readingInput,
      userId: { type: 'string', description: 'Only conversations of this participant.' },
      userName: { ...words, description: 'Only conversations with a participant whose name has this; any case.' },
      text: {
        ...words,
        description: 'Only conversations with a message that has this text in a value of its payload; any case.',
      },
      tagKey: { ...words, description: 'Only conversations that have this tag, or a participant who has it.' },
      tagValue: { type: 'string', maxLength: 500, description: 'The value of the tag; without it, any.' },
      integration: { type: 'string', description: 'The name of the conversation’s integration, or its alias.' },
      channel: { type: 'string' },
      timeStart: { type: 'string', format: 'date-time', description: 'Only messages of this time or later are read.' },
      timeEnd: { type: 'string', format: 'date-time', description: 'Only messages of this time or earlier are read.' },
    },
  ),
  output: closedObject(
    { conversations: { type: 'array', items: listedConversation }, meta: pageMeta },
    {
      ...readingOutput,
      searchedUntil: {
        type: 'string',
        format: 'date-time',
        description: 'The time back to which the page was read, when it is not full.',
      },
    },
  ),

  async handle(context, { botId, ...input }) {
    await findOwnBot(context, botId)
    if (input.tagValue !== undefined && input.tagKey === undefined) {
      throw new ApiError('InvalidQuery', 'tagValue needs tagKey: name the tag that has this value')
    }
    const request = pageRequest(input)
    const { rows, end } = await searchConversations(context.db, botId, input, request)
    return {
      conversations: rows.map((row) => toListedConversation(row, input.text)),
      meta: end ? { nextToken: encodeCursor(end) } : {},
      ...(end && rows.length < request.limit && { searchedUntil: end.createdAt.toISOString() }),
    }
  },
})
