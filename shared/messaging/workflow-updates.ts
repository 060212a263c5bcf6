import { newId } from '../ids.ts'
import { toRuntimeConversation } from '../models/conversation.ts'
import { workflowUpdate } from '../models/event.ts'
import { toRuntimeUser } from '../models/user.ts'
import { isFinal, toWorkflow } from '../models/workflow.ts'
import type { Database } from '../store/database.ts'
import { insertConversationEvent, insertEvent } from '../store/events.ts'
import { findRuntimeConversation } from '../store/runtime-conversations.ts'
import { findRuntimeUser } from '../store/runtime-users.ts'
import type { WorkflowRow } from '../models/tables.ts'
import {
  endOverdueWorkflow,
  findWorkflow,
  lockContinuable,
  lockWorkflow,
  noteContinuation,
  noteHeardEvent,
} from '../store/workflows.ts'

/**
 * The kinds of `workflow_update` events, which inform a bot about its workflows. Their mailbox is that of the
 * workflow's conversation, or the workflow's own where it has none. They are inserted in the transaction of the change;
 * the returned mailboxes are woken after the commit.
 */
type Update =
  | 'workflow_started'
  | 'workflow_continued'
  | 'workflow_timedout'
  | 'child_workflow_finished'
  | 'child_workflow_deleted'

/**
 * Inserts an event about a workflow.
 *
 * @param child the child workflow, for updates that concern one
 * @returns the mailbox to wake
 */
export async function sendWorkflowEvent(
  db: Database,
  type: Update,
  row: WorkflowRow,
  child?: WorkflowRow,
): Promise<string> {
  const { bot_id: botId, conversation_id: conversationId, user_id: userId } = row
  const conversation = conversationId && (await findRuntimeConversation(db, { botId }, conversationId))
  const user = userId && (await findRuntimeUser(db, { botId }, userId))
  const event = {
    id: newId('evt'),
    botId,
    type: workflowUpdate,
    workflowId: row.id,
    ...(userId && { userId }),
    payload: {
      type,
      workflow: toWorkflow(row),
      ...(conversation && { conversation: toRuntimeConversation(conversation) }),
      ...(user && { user: toRuntimeUser(user) }),
      ...(child && { childWorkflow: toWorkflow(child) }),
    },
  }
  const stored = conversationId
    ? await insertConversationEvent(db, { ...event, conversationId })
    : await insertEvent(db, { ...event, mailbox: row.id })
  if (type === 'workflow_continued') await noteContinuation(db, { botId, id: row.id, eventId: event.id })
  if (child) await noteHeardEvent(db, { botId, id: row.id, eventId: event.id })
  return stored?.mailbox ?? row.id
}

/**
 * Inserts an event about a child workflow for its parent, unless there is no parent or it has ended.
 *
 * @returns the mailboxes to wake
 */
export async function sendParentEvent(
  db: Database,
  type: 'child_workflow_finished' | 'child_workflow_deleted',
  child: WorkflowRow,
): Promise<string[]> {
  const parent = child.parent_id && (await findWorkflow(db, { botId: child.bot_id }, child.parent_id))
  if (!parent || isFinal(parent.status)) return []
  return [await sendWorkflowEvent(db, type, parent, child)]
}

/**
 * Continues a workflow that its handler has left in progress, or that listens and has heard an event, unless it has changed
 * meanwhile. Requires a transaction.
 *
 * @returns the mailboxes to wake
 */
export async function continueWorkflow(db: Database, botId: string, id: string): Promise<string[]> {
  const row = await lockContinuable(db, botId, id)
  return row ? [await sendWorkflowEvent(db, 'workflow_continued', row)] : []
}

/**
 * Ends a workflow whose time is over, unless it has ended or received more time meanwhile. Requires a transaction.
 *
 * @returns the mailboxes to wake
 */
export async function timeOutWorkflow(db: Database, botId: string, id: string): Promise<string[]> {
  await lockWorkflow(db, botId, id)
  const ended = await endOverdueWorkflow(db, botId, id)
  if (!ended) return []
  return [
    await sendWorkflowEvent(db, 'workflow_timedout', ended),
    ...(await sendParentEvent(db, 'child_workflow_finished', ended)),
  ]
}
