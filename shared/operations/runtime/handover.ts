import { once } from '../../rpc/journal.ts'
import { closedObject } from '../../schema.ts'
import { beginOrJoin, describeHandover } from '../../messaging/handovers.ts'
import { announceHandover } from '../../messaging/inbox-news.ts'
import {
  handover as handoverSchema,
  handoverDescription,
  handoverTitle,
  maxHandoverSeconds,
  type Handover,
} from '../../models/handover.ts'
import { operation } from '../../rpc/operation.ts'
import { findConversation } from '../../store/conversations.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'

export const handover = operation({
  name: 'handover',
  description:
    'Hands a conversation over to people: hooks and flows of the bot do not run for its events until a member or ' +
    'endHandover hands it back, or the time is over. The run that calls it goes on to its end. A conversation that ' +
    'is handed over already keeps its handover.',
  method: 'POST',
  path: '/v1/chat/conversations/{conversationId}/handover',
  access: 'bot',
  stability: 'experimental',
  errors: ['RelationConflict'],
  input: closedObject(
    { conversationId: { type: 'string' } },
    {
      title: { ...handoverTitle, description: 'The reason, as members see it in their list.' },
      description: handoverDescription,
      expiresInSeconds: {
        type: 'integer',
        minimum: 1,
        maximum: maxHandoverSeconds,
        description: 'The time after which it ends by itself; absent: never.',
      },
    },
  ),
  output: closedObject({ handover: handoverSchema }),

  async handle(context, input) {
    const { caller } = context
    const { conversationId } = input
    const { id, isNew, begun } = await once<Begun>(context, input, async (transaction) => {
      const { botId } = caller
      const isVisible = await findScopedConversation(transaction, caller, conversationId)
      const conversation = isVisible && (await findConversation(transaction, botId, conversationId))
      if (!conversation) throw noConversation(conversationId)
      const given = { ...input, botId, requestedBy: 'bot' } as const
      const begun = await beginOrJoin(transaction, conversation, given)
      if (!begun) throw noConversation(conversationId)
      return { ...begun, begun: await describeHandover({ ...context, db: transaction }, botId, begun.id) }
    })
    if (isNew) await announceHandover(context, id, 'created')
    // Calls that an earlier version of the platform has recorded do not describe it.
    return { handover: begun ?? (await describeHandover(context, caller.botId, id)) }
  },
})

interface Begun {
  id: string
  isNew: boolean
  begun?: Handover
}
