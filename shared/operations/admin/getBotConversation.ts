import { closedObject } from '../../schema.ts'
import { flowPosition, toFlowPosition } from '../../flows/position.ts'
import { handover, toHandover } from '../../models/handover.ts'
import {
  participant,
  shownConversation,
  shownState,
  toParticipant,
  toShownConversation,
  toShownState,
} from '../../models/transcript.ts'
import { hasRole } from '../../rpc/caller.ts'
import { operation } from '../../rpc/operation.ts'
import { readingInput, readingOutput } from '../../rpc/reading.ts'
import { findHandoverInProgress } from '../../store/find-handovers.ts'
import { flowStateOf, maxParticipants, maxStates, participantsOf, statesOf } from '../../store/transcript.ts'
import { findOwnConversation } from './find-conversation.ts'

export const getBotConversation = operation({
  name: 'getBotConversation',
  description:
    'Returns a conversation of a bot with its participants, its states and theirs, and its position in flows. An ' +
    'agent reads conversations that have had a handover, without states and position. The audit log has who read it. ' +
    'Not for viewers.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/conversations/{conversationId}',
  access: 'agent',
  stability: 'experimental',
  recordsReading: true,
  errors: ['ResourceNotFound'],
  input: closedObject({ botId: { type: 'string' }, conversationId: { type: 'string' } }, readingInput),
  output: closedObject(
    {
      conversation: shownConversation,
      participants: {
        type: 'array',
        items: participant,
        description: `Those who joined first; at most ${maxParticipants}.`,
      },
      states: {
        type: 'array',
        items: shownState,
        description: `States that the bot’s own code has set, the newest first; at most ${maxStates}.`,
      },
    },
    {
      ...readingOutput,
      flowPosition: { ...flowPosition, description: 'Absent when no flow is in progress.' },
      handover: { ...handover, description: 'The handover in progress; absent while the bot answers.' },
    },
  ),

  async handle(context, where) {
    const { db, caller } = context
    const row = await findOwnConversation(context, where)
    const [people, inProgress] = await Promise.all([
      participantsOf(db, where),
      findHandoverInProgress(db, where.botId, where.conversationId),
    ])
    const seen = {
      conversation: toShownConversation(row),
      participants: people.map(toParticipant),
      ...(inProgress && { handover: toHandover(inProgress) }),
    }
    if (!hasRole(caller, 'developer')) return { ...seen, states: [] }
    const [states, flowState] = await Promise.all([
      statesOf(
        db,
        where,
        people.map(({ id }) => id),
      ),
      flowStateOf(db, where),
    ])
    const position = toFlowPosition(flowState)
    return { ...seen, states: states.map(toShownState), ...(position && { flowPosition: position }) }
  },
})
