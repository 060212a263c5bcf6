import type { BotContext } from '../../rpc/caller.ts'
import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { announceMessage, prepareMessage } from '../../messaging/create-message.ts'
import { announceEntrance, enterAsMember, handoverInProgress } from '../../messaging/handovers.ts'
import { storeReply } from '../../messaging/member-replies.ts'
import { isWebchat } from '../../models/chat-integration.ts'
import { runtimeMessage, toRuntimeMessage } from '../../models/message.ts'
import { toChatPayload } from '../../models/payload.ts'
import { isWebchatComponent } from '../../models/webchat.ts'
import { operation } from '../../rpc/operation.ts'
import { findHandover } from '../../store/find-handovers.ts'
import { insertMemberMessage, lockConversation, recordReply } from '../../store/handovers.ts'
import { transact } from '../../store/database.ts'
import { noConversation } from '../runtime/not-found.ts'
import { findBotConversation } from './find-conversation.ts'
import { findOwnBot } from './find-version.ts'
import { takenBy } from './takeOverConversation.ts'

export const replyInConversation = operation({
  name: 'replyInConversation',
  description:
    'Sends a message of the caller in a conversation that is handed over to the caller. Users of the chats see the ' +
    'member’s name and picture; through other integrations the message is the bot’s.',
  method: 'POST',
  path: '/v1/admin/bots/{botId}/conversations/{conversationId}/messages',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'RelationConflict'],
  status: 201,
  input: closedObject({
    botId: { type: 'string' },
    conversationId: { type: 'string' },
    type: { type: 'string', minLength: 1, maxLength: 200 },
    payload: { type: 'object' },
  }),
  output: closedObject({ message: runtimeMessage }),

  async handle(context, { botId, conversationId, type, payload }) {
    const { db, caller } = context
    const { accountId } = caller
    await findOwnBot(context, botId)
    const asBot: BotContext = { ...context, caller: { kind: 'bot', botId } }
    const conversation = await findBotConversation(db, botId, conversationId)
    // The message is prepared as the bot's, which may send components. An agent may not choose the code of a site.
    if (isWebchat(conversation) && isWebchatComponent(toChatPayload({ type, payload }))) throw componentRefused()
    const ready = await prepareMessage(asBot, { conversationId, type, payload })
    const { row, entrance } = await transact(db, async (transaction) => {
      await lockConversation(transaction, botId, conversationId)
      const id = await handoverInProgress(transaction, botId, conversationId)
      if (!(await recordReply(transaction, { botId, id, accountId }))) {
        throw takenBy(await findHandover(transaction, botId, id))
      }
      const entrance = await enterAsMember(transaction, conversation, accountId)
      const row = await storeReply({ ...asBot, db: transaction }, conversation, ready, entrance.userId)
      if (!row) throw noConversation(conversationId)
      const written = { message_id: row.id, handover_id: id, account_id: accountId, name: entrance.name }
      await insertMemberMessage(transaction, written)
      return { row, entrance }
    })
    await announceEntrance(context, entrance)
    await announceMessage(asBot, row)
    return { message: toRuntimeMessage(row, asBot.caller) }
  },
})

function componentRefused(): ApiError {
  return new ApiError('InvalidPayload', 'A message of the type custom is code in the page, which only the bot sends')
}
