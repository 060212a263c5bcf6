import { announceEnd, noHandover } from '../../messaging/handovers.ts'
import { closedObject } from '../../schema.ts'
import { flowResumed, toRuntimeEvent } from '../../models/event.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { findHandoverInProgress } from '../../store/find-handovers.ts'
import { endHandover, type HandoverEnd } from '../../store/handovers.ts'
import { assertConversation, flowEventOutput, insertFlowEvent } from './flow-events.ts'

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
    const { botId, installation } = context.caller
    const { conversationId } = input
    let end: HandoverEnd | undefined
    const event = await once(context, input, async (db) => {
      await assertConversation(context, db, conversationId)
      const inProgress = await findHandoverInProgress(db, botId, conversationId)
      end = inProgress && (await endHandover(db, { botId, id: inProgress.id, status: 'resolved' }))
      // Without a handover, as in conversations that an older version handed over, only the flows continue.
      if (!inProgress) return insertFlowEvent(context, db, { ...input, type: flowResumed, payload: {} })
      if (!end) throw noHandover(inProgress.id)
      return toRuntimeEvent(end.event, installation)
    })
    if (end) await announceEnd(context, end)
    else await wakeWorker(context, 'event', conversationId, botId)
    return { event }
  },
})
