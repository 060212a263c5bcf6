import { closedObject } from '../../schema.ts'
import { toTranscriptMessage, transcriptMessage } from '../../models/transcript.ts'
import { operation } from '../../rpc/operation.ts'
import { readingInput, readingOutput } from '../../rpc/reading.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { pageOfTranscript } from '../../store/transcript.ts'
import { findOwnConversation } from './find-conversation.ts'

export const listBotConversationMessages = operation({
  name: 'listBotConversationMessages',
  description:
    'Lists the messages of both sides of a conversation, newest first, with their authors and the events that handled or ' +
    'delivered them. An agent reads conversations that have had a handover. The audit log has who read them. Not for viewers.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/conversations/{conversationId}/messages',
  access: 'agent',
  stability: 'experimental',
  recordsReading: true,
  errors: ['ResourceNotFound'],
  input: closedObject(
    { botId: { type: 'string' }, conversationId: { type: 'string' } },
    { ...pageInput, ...readingInput },
  ),
  output: closedObject({ messages: { type: 'array', items: transcriptMessage }, meta: pageMeta }, readingOutput),

  async handle(context, { botId, conversationId, ...input }) {
    const where = { botId, conversationId }
    await findOwnConversation(context, where)
    const found = await pageOfTranscript(context.db, where, pageRequest(input))
    return { messages: found.rows.map(toTranscriptMessage), meta: toMeta(found) }
  },
})
