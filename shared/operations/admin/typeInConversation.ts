import { closedObject } from '../../schema.ts'
import { handoverInProgress } from '../../messaging/handovers.ts'
import { announceMemberTyping } from '../../messaging/typing.ts'
import { operation } from '../../rpc/operation.ts'
import { findHandover } from '../../store/find-handovers.ts'
import { findBotConversation } from './find-conversation.ts'
import { findOwnBot } from './find-version.ts'
import { takenBy } from './takeOverConversation.ts'

export const typeInConversation = operation({
  name: 'typeInConversation',
  description:
    'Shows the user of a conversation that the caller, who answers there, types. Clients of the chats show it for some ' +
    'seconds, so it is repeated; clients of other integrations do not.',
  method: 'POST',
  path: '/v1/admin/bots/{botId}/conversations/{conversationId}/typing',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'RelationConflict'],
  // It is seen for a moment and not stored.
  changesNothing: true,
  input: closedObject(
    { botId: { type: 'string' }, conversationId: { type: 'string' } },
    { isTyping: { type: 'boolean', description: 'False takes it back; default: true.' } },
  ),
  output: closedObject({}),

  async handle(context, { botId, conversationId, isTyping = true }) {
    const { db, caller } = context
    await findOwnBot(context, botId)
    const conversation = await findBotConversation(db, botId, conversationId)
    const handover = await findHandover(db, botId, await handoverInProgress(db, botId, conversationId))
    if (handover?.account_id !== caller.accountId) throw takenBy(handover)
    await announceMemberTyping(context, conversation, handover, isTyping)
    return {}
  },
})
