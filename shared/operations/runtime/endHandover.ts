import { once } from '../../rpc/journal.ts'
import { closedObject } from '../../schema.ts'
import { announceEnd, describeHandover, handoverInProgress, noHandover } from '../../messaging/handovers.ts'
import { handover, type Handover } from '../../models/handover.ts'
import { operation } from '../../rpc/operation.ts'
import { endHandover as endInStore, type HandoverEnd } from '../../store/handovers.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'

export const endHandover = operation({
  name: 'endHandover',
  description:
    'Hands a conversation back to the bot. Events that came during the handover stay ignored; the bot receives ' +
    '`handover_ended`, and its flows continue.',
  method: 'DELETE',
  path: '/v1/chat/conversations/{conversationId}/handover',
  access: 'bot',
  stability: 'experimental',
  input: closedObject({ conversationId: { type: 'string' } }),
  output: closedObject({ handover }),

  async handle(context, input) {
    const { caller } = context
    const { botId } = caller
    const { conversationId } = input
    const end = await once<Ended>(context, input, async (transaction) => {
      if (!(await findScopedConversation(transaction, caller, conversationId))) throw noConversation(conversationId)
      const id = await handoverInProgress(transaction, botId, conversationId)
      const end = await endInStore(transaction, { botId, id, status: 'resolved' })
      if (!end) throw noHandover(id)
      return { ...end, ended: await describeHandover({ ...context, db: transaction }, botId, id) }
    })
    await announceEnd(context, end)
    // Calls that an earlier version of the platform has recorded do not describe it.
    return { handover: end.ended ?? (await describeHandover(context, botId, end.handover.id)) }
  },
})

interface Ended extends HandoverEnd {
  ended?: Handover
}
