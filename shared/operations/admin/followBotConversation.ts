import { ApiError } from '../../errors.ts'
import { follow } from '../../messaging/follow.ts'
import { conversationLine, toConversationLine, type ConversationLine } from '../../models/conversation-line.ts'
import { operation } from '../../rpc/operation.ts'
import { readingInput } from '../../rpc/reading.ts'
import { closedObject } from '../../schema.ts'
import type { Announcement } from '../../signals/after-commit.ts'
import { conversationTopic } from '../../signals/signals.ts'
import { findOwnConversation } from './find-conversation.ts'

export const followBotConversation = operation({
  name: 'followBotConversation',
  description:
    'Streams what happens in a conversation of a bot, as lines of JSON (NDJSON): that its transcript has changed, and the ' +
    'parts of a message that the bot is writing. The stream ends after an hour at the latest, and when the member may no ' +
    'longer read the conversation. The audit log has who read it. Not for viewers.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/conversations/{conversationId}/follow',
  access: 'agent',
  stability: 'experimental',
  recordsReading: true,
  errors: ['ResourceNotFound', 'RateLimited'],
  streamsLines: true,
  input: closedObject({ botId: { type: 'string' }, conversationId: { type: 'string' } }, readingInput),
  output: conversationLine,

  async handle(context, { botId, conversationId }) {
    const where = { botId, conversationId }
    await findOwnConversation(context, where)
    return follow(context, context.caller, {
      kind: 'conversations',
      topic: conversationTopic(conversationId),
      toLine: (signal) => toLine(signal as Announcement),
      async isAllowed(role) {
        try {
          await findOwnConversation({ ...context, caller: { ...context.caller, role } }, where)
          return true
        } catch (error) {
          if (error instanceof ApiError && error.type === 'ResourceNotFound') return false
          throw error
        }
      },
    })
  },
})

/** Entries of the log are changes of the transcript: their contents are in the rows. */
function toLine(announcement: Announcement): ConversationLine | undefined {
  return 'passing' in announcement ? toConversationLine(announcement.passing) : { type: 'change' }
}
