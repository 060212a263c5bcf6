import type { BotCaller, BotContext } from '../../rpc/caller.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Infer } from '../../schema.ts'
import { newWorkflow } from '../../models/workflow.ts'
import type { Database } from '../../store/database.ts'
import { findEvent } from '../../store/events.ts'
import type { WorkflowRow } from '../../models/tables.ts'
import { insertWorkflow, type NewWorkflow } from '../../store/workflows.ts'
import { sendWorkflowEvent } from '../../messaging/workflow-updates.ts'
import { assertReferences } from './references.ts'

/**
 * Converts an input to a new workflow.
 * @throws ApiError `ReferenceNotFound`, `InvalidPayload`; `Forbidden` for an integration
 */
export async function toNewWorkflow(context: BotContext, input: Infer<typeof newWorkflow>): Promise<NewWorkflow> {
  const { botId } = context.caller
  const { parentWorkflowId, conversationId, userId, timeoutAt } = input
  assertBotItself(context.caller)
  await assertReferences(context, { conversationId, userId, workflowId: parentWorkflowId })
  if (input.status === 'in_progress') await assertEvent(context, input.eventId)
  return {
    id: newId('workflow'),
    botId,
    name: input.name,
    status: input.status,
    input: input.input ?? {},
    tags: input.tags ?? {},
    parentId: parentWorkflowId,
    conversationId,
    userId,
    ...(timeoutAt && { timeoutAt: new Date(timeoutAt) }),
    ...(input.status === 'in_progress' && { eventId: input.eventId }),
  }
}

/**
 * Inserts a new workflow and, if it is pending, the event that starts it.
 *
 * @returns the workflow, and the mailboxes to wake
 */
export async function startWorkflow(
  db: Database,
  workflow: NewWorkflow,
): Promise<{ row: WorkflowRow; mailboxes: string[] }> {
  const row = await insertWorkflow(db, workflow)
  return { row, mailboxes: row.status === 'pending' ? [await sendWorkflowEvent(db, 'workflow_started', row)] : [] }
}

/**
 * Checks that a workflow in progress names an event of the bot in which it progresses.
 * @throws ApiError `InvalidPayload` without an event, `ReferenceNotFound`
 */
export async function assertEvent({ db, caller }: BotContext, eventId: string | undefined): Promise<void> {
  if (eventId === undefined) {
    throw new ApiError('InvalidPayload', 'The status in_progress needs eventId, the event that the bot is handling')
  }
  if (await findEvent(db, caller.botId, eventId)) return
  throw new ApiError('ReferenceNotFound', `Event '${eventId}' not found`)
}

/**
 * Refuses integrations, since workflows belong to bots.
 * @throws ApiError `Forbidden`
 */
export function assertBotItself({ installation }: BotCaller): void {
  if (installation) throw new ApiError('Forbidden', 'Integrations have no workflows: only a bot may create one')
}
