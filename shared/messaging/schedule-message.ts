import type { BotContext } from '../rpc/caller.ts'
import { noSuchConversation, type ReadyMessage } from './create-message.ts'
import { newId } from '../ids.ts'
import { once } from '../rpc/journal.ts'
import { messageScheduled } from '../models/event.ts'
import { toRuntimeMessage, type RuntimeMessage } from '../models/message.ts'
import { scheduledTime } from './schedule.ts'
import { insertScheduledEvent } from '../store/events.ts'
import { findScopedConversation } from '../store/runtime-conversations.ts'

/**
 * Stores a message until its time, as a scheduled event with the `ReadyMessage` as its payload.
 *
 * @param input of the call, for the journal
 * @returns the future message
 * @throws ApiError `InvalidPayload` when the schedule is invalid, `ReferenceNotFound` when there is no such
 *   conversation
 */
export async function scheduleMessage(
  context: BotContext,
  input: unknown,
  ready: ReadyMessage,
  schedule: Parameters<typeof scheduledTime>[0],
): Promise<RuntimeMessage> {
  const dueAt = scheduledTime(schedule)
  const { direction, message } = ready
  const { botId, conversationId, userId } = message
  return once(context, input, async (db) => {
    if (!(await findScopedConversation(db, context.caller, conversationId))) throw noSuchConversation(conversationId)
    const event = { id: newId('evt'), botId, type: messageScheduled, conversationId, userId, dueAt }
    await insertScheduledEvent(db, { ...event, payload: { ...ready } })
    const row = {
      id: message.id,
      bot_id: botId,
      conversation_id: conversationId,
      user_id: userId,
      type: message.type,
      payload: message.payload,
      metadata: message.metadata ?? null,
      tags: message.tags ?? {},
      direction,
      origin: message.origin ?? null,
      created_at: dueAt,
      updated_at: dueAt,
    }
    return toRuntimeMessage(row, context.caller)
  })
}
