import { wakeWorker } from '../../signals/after-commit.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { newId } from '../../ids.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeEvent, toRuntimeEvent } from '../../models/event.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { insertConversationEvent } from '../../store/events.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'
import { assertReferences } from './references.ts'

export const flowEventOutput = closedObject({ event: runtimeEvent })

interface FlowEvent {
  conversationId: string
  userId?: string | undefined
  type: string
  payload: Record<string, unknown>
}

/**
 * Creates an event of the platform's own for the flows of a conversation. It takes its turn in the mailbox.
 *
 * @param input of the operation, for the journal
 * @throws ApiError `ResourceNotFound` for the conversation, `ReferenceNotFound` for the user
 */
export async function createFlowEvent(
  context: BotContext,
  input: object,
  { conversationId, userId, ...event }: FlowEvent,
): Promise<Infer<typeof flowEventOutput>> {
  const { botId, installation } = context.caller
  if (!(await findScopedConversation(context.db, context.caller, conversationId))) throw noConversation(conversationId)
  await assertReferences(context, { userId })
  const created = await once(context, input, async (db) => {
    const row = await context.waiting.admit(db, botId, () =>
      insertConversationEvent(db, { ...event, id: newId('evt'), botId, conversationId, ...(userId && { userId }) }),
    )
    if (!row) throw noConversation(conversationId)
    return toRuntimeEvent(row, installation)
  })
  await wakeWorker(context, 'event', conversationId, botId)
  return { event: created }
}
