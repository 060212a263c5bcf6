import { closedObject } from '../../schema.ts'
import type { BotCaller, BotContext } from '../../rpc/caller.ts'
import { announceMessage } from '../../messaging/create-message.ts'
import { ApiError } from '../../errors.ts'
import {
  getOrCreateConversation,
  getOrCreateUser,
  wakeForStart,
  type ConversationInput,
  type GotConversation,
  type UserInput,
} from '../../messaging/get-or-create.ts'
import { getOrCreateMessage, type GotMessage } from '../../messaging/get-or-create-message.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeConversation, toRuntimeConversation } from '../../models/conversation.ts'
import { runtimeMessage, toRuntimeMessage, type RuntimeMessage } from '../../models/message.ts'
import { discriminateByTags } from '../../models/tags.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import type { Database } from '../../store/database.ts'
import { findMessage } from '../../store/messages.ts'
import { findRuntimeConversation } from '../../store/runtime-conversations.ts'
import { findRuntimeUser } from '../../store/runtime-users.ts'
import type { MessageRow } from '../../models/tables.ts'
import { conversationInput } from './createConversation.ts'
import { messageInput } from './createMessage.ts'
import { userInput } from './createUser.ts'

const { type, payload, tags, origin } = messageInput

export const initializeIncomingMessage = operation({
  name: 'initializeIncomingMessage',
  description:
    'Gets or creates the user, the conversation and the message of a received message, in one call of an integration.',
  method: 'POST',
  path: '/v1/chat/initialize-incoming-message',
  access: 'bot',
  errors: ['ReferenceNotFound', 'RateLimited'],
  input: closedObject(
    {},
    {
      userId: { type: 'string' },
      user: closedObject({}, { ...userInput, discriminateByTags }),
      conversationId: { type: 'string' },
      conversation: {
        type: 'object',
        additionalProperties: false,
        required: ['channel'],
        properties: { ...conversationInput, discriminateByTags },
      },
      message: closedObject({ type, payload }, { tags, origin, discriminateByTags }),
    },
  ),
  output: closedObject({ user: runtimeUser, conversation: runtimeConversation }, { message: runtimeMessage }),

  async handle(context, input) {
    const { caller } = context
    if (!caller.installation) {
      throw new ApiError(
        'Forbidden',
        'Only integrations receive messages: name the integration with the header x-integration-id',
      )
    }
    let stored: MessageRow | undefined
    let hasEvent: boolean | undefined
    const { user, conversation, message } = await once(context, input, async (db) => {
      const author = await findOrGetUser(context, db, input)
      const conversation = await findOrGetConversation(context, db, input, author.id)
      hasEvent = conversation.has_started_event ?? false
      const said = { conversationId: conversation.id, userId: author.id }
      const got = input.message && (await getOrCreateMessage(context, db, { ...input.message, ...said }))
      stored = got?.row
      return {
        user: toRuntimeUser(author, caller),
        conversation: toRuntimeConversation(conversation, caller),
        message: got ? toReceived(got, caller) : null,
      }
    })
    const row = stored ?? (message ? await findMessage(context.db, caller.botId, message.id) : undefined)
    // A message of the conversation wakes a worker for all its events.
    if (row && message?.created) await announceMessage(context, row)
    else await wakeForStart(context, conversation.id, hasEvent)
    // Calls that an earlier version of the platform has recorded have no message.
    const shown = message?.shown ?? (row && toRuntimeMessage(row, caller))
    return { user, conversation, ...(shown && { message: shown }) }
  },
})

interface Received {
  id: string
  created: boolean
  shown?: RuntimeMessage
}

function toReceived({ row, created }: GotMessage, caller: BotCaller): Received {
  return { id: row.id, created, shown: toRuntimeMessage(row, caller) }
}

async function findOrGetUser(context: BotContext, db: Database, given: { userId?: string; user?: UserInput }) {
  const { userId, user } = given
  if (userId !== undefined && user === undefined) {
    const row = await findRuntimeUser(db, context.caller, userId)
    if (row) return row
    throw new ApiError('ReferenceNotFound', `User '${userId}' not found`)
  }
  if (user === undefined || userId !== undefined) throw oneOf('userId', 'user')
  return (await getOrCreateUser(context, db, user)).row
}

async function findOrGetConversation(
  context: BotContext,
  db: Database,
  given: { conversationId?: string; conversation?: ConversationInput },
  authorId: string,
): Promise<GotConversation> {
  const { conversationId, conversation } = given
  if (conversationId !== undefined && conversation === undefined) {
    const row = await findRuntimeConversation(db, context.caller, conversationId)
    if (row) return row
    throw new ApiError('ReferenceNotFound', `Conversation '${conversationId}' not found`)
  }
  if (conversation === undefined || conversationId !== undefined) throw oneOf('conversationId', 'conversation')
  return (await getOrCreateConversation(context, db, conversation, authorId)).row
}

function oneOf(id: string, object: string): ApiError {
  return new ApiError('InvalidPayload', `Give either ${id} or ${object}`)
}
