import { closedObject } from '../../schema.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { once } from '../../rpc/journal.ts'
import { integrationType, reservedTypes, runtimeEvent, toRuntimeEvent } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { scheduledTime, scheduleInput } from '../../messaging/schedule.ts'
import { insertConversationEvent, insertEvent, insertScheduledEvent } from '../../store/events.ts'
import type { EventRow } from '../../models/tables.ts'
import { noteHeardEvent } from '../../store/workflows.ts'
import { assertReferences } from './references.ts'

export const createEvent = operation({
  name: 'createEvent',
  description:
    'Creates an event for the bot, for now or a later time; with conversationId, an event of that conversation. With workflowId, ' +
    'it continues a workflow that is listening, once the bot has handled it.',
  method: 'POST',
  path: '/v1/chat/events',
  access: 'bot',
  errors: ['ReferenceNotFound', 'RateLimited'],
  status: 201,
  input: closedObject(
    { type: { type: 'string', minLength: 1, maxLength: 200 }, payload: { type: 'object' } },
    {
      conversationId: { type: 'string' },
      userId: { type: 'string' },
      messageId: { type: 'string' },
      workflowId: { type: 'string' },
      schedule: scheduleInput,
    },
  ),
  output: closedObject({ event: runtimeEvent }),

  async handle(context, input) {
    const { botId, installation } = context.caller
    const { schedule, conversationId, payload, ...given } = input
    const event = { ...given, id: newId('evt'), botId, payload, ...typed(context, input.type) }
    const created = await once(context, input, async (db) => {
      const dueAt = schedule && scheduledTime(schedule, context.dependencies.database.now())
      await assertReferences({ ...context, db }, { ...given, conversationId })
      const insert = () =>
        conversationId === undefined
          ? insertEvent(db, event)
          : insertConversationEvent(db, { ...event, conversationId })
      const row = await (dueAt
        ? insertScheduledEvent(db, { ...event, conversationId, dueAt })
        : context.waiting.admit<EventRow | undefined>(db, botId, insert))
      if (!row) throw new ApiError('ReferenceNotFound', `Conversation '${conversationId}' not found`)
      const { workflowId } = given
      if (workflowId !== undefined && !dueAt) await noteHeardEvent(db, { botId, id: workflowId, eventId: row.id })
      return toRuntimeEvent(row, installation)
    })
    if (!schedule) await wakeWorker(context, 'event', created.conversationId ?? created.id, botId)
    return { event: created }
  },
})

/** The event's type as the bot receives it, and the integration that creates the event, if any. */
function typed({ caller }: BotContext, type: string): { type: string; integration?: string } {
  const { installation } = caller
  if (installation) return { type: integrationType(installation, type), integration: installation.integration }
  if (!reservedTypes.includes(type)) return { type }
  throw new ApiError('InvalidPayload', `The event type '${type}' is reserved by the platform: choose another`)
}
