import { wakeWorker } from '../../signals/after-commit.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { newId } from '../../ids.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeEvent, toRuntimeEvent, type RuntimeEvent } from '../../models/event.ts'
import { closedObject, type Infer } from '../../schema.ts'
import type { Database } from '../../store/database.ts'
import { insertConversationEvent } from '../../store/events.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'
import { assertReferences } from './references.ts'

export const flowEventOutput = closedObject({ event: runtimeEvent })

/** An event of the platform's own for the flows of a conversation. */
interface FlowEvent {
  conversationId: string
  userId?: string | undefined
  type: string
  payload: Record<string, unknown>
}

/**
 * Creates an event for flows, which takes its turn in the mailbox of its conversation.
 *
 * @param input of the operation, for the journal
 * @param check throws when the event may not be created; it is called after the conversation was found
 * @throws ApiError as `insertFlowEvent`
 */
export async function createFlowEvent(
  context: BotContext,
  input: object,
  event: FlowEvent,
  check?: (db: Database) => Promise<void>,
): Promise<Infer<typeof flowEventOutput>> {
  const { conversationId } = event
  const created = await once(context, input, async (db) => {
    await assertConversation(context, db, conversationId)
    await check?.(db)
    return insertFlowEvent(context, db, event)
  })
  await wakeWorker(context, 'event', conversationId, context.caller.botId)
  return { event: created }
}

/** @throws ApiError `ResourceNotFound` */
export async function assertConversation({ caller }: BotContext, db: Database, id: string): Promise<void> {
  if (!(await findScopedConversation(db, caller, id))) throw noConversation(id)
}

/**
 * Inserts an event for flows of a conversation that the caller has.
 *
 * @throws ApiError `ResourceNotFound` for a conversation that was deleted meanwhile, `ReferenceNotFound` for the user
 */
export async function insertFlowEvent(
  context: BotContext,
  db: Database,
  { conversationId, userId, ...event }: FlowEvent,
): Promise<RuntimeEvent> {
  const { botId, installation } = context.caller
  await assertReferences({ ...context, db }, { userId })
  const row = await context.waiting.admit(db, botId, () =>
    insertConversationEvent(db, { ...event, id: newId('evt'), botId, conversationId, ...(userId && { userId }) }),
  )
  if (!row) throw noConversation(conversationId)
  return toRuntimeEvent(row, installation)
}
