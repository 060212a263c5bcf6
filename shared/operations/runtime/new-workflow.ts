import type { BotCaller, BotContext } from '../../rpc/caller.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Infer } from '../../schema.ts'
import { newWorkflowFields } from '../../models/workflow.ts'
import type { Database } from '../../store/database.ts'
import { findEvent } from '../../store/events.ts'
import type { WorkflowRow } from '../../models/tables.ts'
import { insertWorkflow, type NewWorkflow } from '../../store/workflows.ts'
import { sendWorkflowEvent } from '../../messaging/workflow-updates.ts'
import { assertReferences } from './references.ts'

const given = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'status'],
  properties: newWorkflowFields,
} as const

/**
 * Makes of an input what is to be stored of a new workflow.
 * @throws ApiError `ReferenceNotFound`, `InvalidPayload`; `Forbidden` when an integration asks
 */
export async function toNewWorkflow(context: BotContext, input: Infer<typeof given>): Promise<NewWorkflow> {
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
  }
}

/** Stores a new workflow, and the event that starts it if it waits to be started. Gives the mailbox to wake then. */
export async function startWorkflow(
  db: Database,
  workflow: NewWorkflow,
): Promise<{ row: WorkflowRow; mailboxes: string[] }> {
  const row = await insertWorkflow(db, workflow)
  return { row, mailboxes: row.status === 'pending' ? [await sendWorkflowEvent(db, 'workflow_started', row)] : [] }
}

/**
 * Checks that work on a workflow is said to be done in an event of the bot's.
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
 * Workflows are the bot's own affair.
 * @throws ApiError `Forbidden`
 */
export function assertBotItself({ installation }: BotCaller): void {
  if (installation) throw new ApiError('Forbidden', 'Workflows belong to bots: an integration has none')
}
