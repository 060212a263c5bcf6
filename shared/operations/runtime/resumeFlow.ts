import { announceEnd, noHandover } from '../../messaging/handovers.ts'
import { closedObject } from '../../schema.ts'
import { flowResumed, toRuntimeEvent } from '../../models/event.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { findHandoverInProgress } from '../../store/find-handovers.ts'
import { endHandover, type HandoverEnd } from '../../store/handovers.ts'
import { createFlowEvent, flowEventOutput } from './flow-events.ts'
import { noConversation } from './not-found.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { transact } from '../../store/database.ts'

export const resumeFlow = operation({
  name: 'resumeFlow',
  description:
    'Hands a conversation back to the flows of the bot, which continue after the card that handed it over. The event ' +
    'takes its turn among those of the conversation.',
  method: 'POST',
  path: '/v1/chat/conversations/{conversationId}/flow/resume',
  access: 'bot',
  stability: 'experimental',
  errors: ['RateLimited'],
  status: 201,
  input: closedObject({ conversationId: { type: 'string' } }),
  output: flowEventOutput,

  async handle(context, input) {
    const { db, caller } = context
    const { botId, installation } = caller
    const { conversationId } = input
    if (!(await findScopedConversation(db, caller, conversationId))) throw noConversation(conversationId)
    const inProgress = await findHandoverInProgress(db, botId, conversationId)
    // Without a handover, as in conversations that an older version handed over, only the flows continue.
    if (!inProgress) return createFlowEvent(context, input, { ...input, type: flowResumed, payload: {} })
    const { id } = inProgress
    let end: HandoverEnd | undefined
    const event = await once(context, input, async (on) => {
      end = await transact(on, (transaction) => endHandover(transaction, { botId, id, status: 'resolved' }))
      if (!end) throw noHandover(id)
      return toRuntimeEvent(end.event, installation)
    })
    if (end) await announceEnd(context, end)
    return { event }
  },
})
