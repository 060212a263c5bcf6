import type { BotContext } from '../rpc/caller.ts'
import { noSuchConversation, prepareMessage, type MessageInput, type ReadyMessage } from './create-message.ts'
import { newId } from '../ids.ts'
import { once } from '../rpc/journal.ts'
import { messageScheduled } from '../models/event.ts'
import { toRuntimeMessage, type RuntimeMessage } from '../models/message.ts'
import type { MessageRow } from '../models/tables.ts'
import { scheduledTime } from './schedule.ts'
import type { Database } from '../store/database.ts'
import { insertScheduledEvent } from '../store/events.ts'
import { findScopedConversation } from '../store/runtime-conversations.ts'

/**
 * Stores a message until its time, as a scheduled event with the `ReadyMessage` as its payload.
 *
 * @param input of the call, for the journal
 * @returns the future message
 * @throws ApiError as `prepareMessage`, `InvalidPayload` when the schedule is invalid, `ReferenceNotFound` when there is
 *   no such conversation
 */
export async function scheduleMessage(
  context: BotContext,
  input: unknown,
  given: MessageInput,
  schedule: Parameters<typeof scheduledTime>[0],
): Promise<RuntimeMessage> {
  const { conversationId } = given
  return once(context, input, async (db) => {
    const ready = await prepareMessage({ ...context, db }, given)
    const dueAt = scheduledTime(schedule, context.dependencies.database.now())
    if (!(await findScopedConversation(db, context.caller, conversationId))) throw noSuchConversation(conversationId)
    return toRuntimeMessage(await storeUntilDue(db, ready, dueAt), context.caller)
  })
}

/** Stores a message as an event for its time. The caller makes sure that it has the conversation. @returns the future message */
export async function storeUntilDue(db: Database, ready: ReadyMessage, dueAt: Date): Promise<MessageRow> {
  const { botId, conversationId, userId } = ready.message
  const event = { id: newId('evt'), botId, type: messageScheduled, conversationId, userId, dueAt }
  await insertScheduledEvent(db, { ...event, payload: { ...ready } })
  return toFutureMessage(ready, dueAt)
}

/** A message that is not stored yet, as it will be. */
export function toFutureMessage({ direction, message }: ReadyMessage, dueAt: Date): MessageRow {
  return {
    id: message.id,
    bot_id: message.botId,
    conversation_id: message.conversationId,
    user_id: message.userId,
    type: message.type,
    payload: message.payload,
    metadata: message.metadata ?? null,
    tags: message.tags ?? {},
    direction,
    origin: message.origin ?? null,
    created_at: dueAt,
    updated_at: dueAt,
  }
}
