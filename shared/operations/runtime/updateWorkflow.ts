import { closedObject } from '../../schema.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { ApiError, notFound } from '../../errors.ts'
import { once } from '../../rpc/journal.ts'
import { workflowUpdate } from '../../models/event.ts'
import { changedTags, toChange } from '../../models/tags.ts'
import { isFinal, toWorkflow, workflow } from '../../models/workflow.ts'
import { operation } from '../../rpc/operation.ts'
import type { Database } from '../../store/database.ts'
import { findEvent } from '../../store/events.ts'
import type { WorkflowRow } from '../../models/tables.ts'
import { changeWorkflow, lockWorkflow } from '../../store/workflows.ts'
import { sendWorkflowEvent, sendParentEvent } from '../../messaging/workflow-updates.ts'
import { assertBotItself, assertEvent } from './new-workflow.ts'
import { assertReferences } from './references.ts'

export const updateWorkflow = operation({
  name: 'updateWorkflow',
  description:
    'Changes a workflow. The status in_progress acknowledges the event that starts or continues it; with any ' +
    'other event it continues a workflow that is paused or listening. One that is still in progress after the event has ' +
    'been handled gets another event, which continues it. One that is listening is continued by the next event that names it, ' +
    'or by the end of a child workflow.',
  method: 'PUT',
  path: '/v1/chat/workflows/{id}',
  access: 'bot',
  errors: ['ReferenceNotFound', 'RelationConflict'],
  input: closedObject(
    { id: { type: 'string' } },
    {
      output: { type: 'object' },
      timeoutAt: { type: 'string', format: 'date-time' },
      status: { enum: ['completed', 'cancelled', 'listening', 'paused', 'failed', 'in_progress'] },
      failureReason: { type: 'string', maxLength: 2000 },
      tags: changedTags,
      userId: { type: 'string' },
      eventId: {
        type: 'string',
        description: 'The event that the bot is handling; required with the status in_progress.',
      },
    },
  ),
  output: closedObject({ workflow }),

  async handle(context, input) {
    const { botId } = context.caller
    const { id, eventId, timeoutAt, ...changes } = input
    assertBotItself(context.caller)
    const { changed, mailboxes } = await once(context, input, async (transaction) => {
      const within = { ...context, db: transaction }
      await assertReferences(within, { userId: input.userId })
      if (changes.status === 'in_progress') await assertEvent(within, eventId)
      const before = await lockWorkflow(transaction, botId, id)
      if (!before) throw noWorkflow(id)
      assertOpen(before, changes.status)
      const after = await changeWorkflow(transaction, botId, id, {
        ...changes,
        tags: toChange({}, changes.tags),
        ...(timeoutAt && { timeoutAt: new Date(timeoutAt) }),
        ...(changes.status === 'in_progress' && { eventId }),
      })
      if (!after) throw noWorkflow(id)
      return { changed: toWorkflow(after), mailboxes: await sendChangeEvents(transaction, before, after, eventId) }
    })
    for (const mailbox of mailboxes) await wakeWorker(context, 'event', mailbox, botId)
    return { workflow: changed }
  },
})

function noWorkflow(id: string): ApiError {
  return notFound(`Workflow '${id}'`)
}

/**
 * Refuses to change the status of a workflow that has ended. Its present status may be sent again, because an answer
 * may have been lost.
 */
function assertOpen({ id, status }: WorkflowRow, wanted: string | undefined): void {
  if (!isFinal(status) || wanted === undefined || wanted === status) return
  throw new ApiError(
    'RelationConflict',
    `The workflow '${id}' has ended (${status}) and can no longer become '${wanted}'`,
  )
}

/**
 * Inserts the events that follow from a change.
 *
 * @returns the mailboxes to wake
 */
async function sendChangeEvents(
  db: Database,
  before: WorkflowRow,
  after: WorkflowRow,
  eventId: string | undefined,
): Promise<string[]> {
  if (isFinal(after.status) && !isFinal(before.status)) return sendParentEvent(db, 'child_workflow_finished', after)
  const resumes = after.status === 'in_progress' && (before.status === 'paused' || before.status === 'listening')
  if (!resumes || eventId === undefined || (await isUpdateOf(db, after, eventId))) return []
  return [await sendWorkflowEvent(db, 'workflow_continued', after)]
}

/** Whether the event is an update of this workflow, whose handler already has the workflow. */
async function isUpdateOf(db: Database, row: WorkflowRow, eventId: string): Promise<boolean> {
  const event = await findEvent(db, row.bot_id, eventId)
  return event?.type === workflowUpdate && event.workflow_id === row.id
}
