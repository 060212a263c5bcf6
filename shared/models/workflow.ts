import type { WorkflowRow, WorkflowStatus } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
import { tagsInput, tags } from './tags.ts'

export const workflowStatuses = [
  'pending',
  'in_progress',
  'failed',
  'completed',
  'listening',
  'paused',
  'timedout',
  'cancelled',
] as const

/** The statuses that a workflow never leaves. */
export const finalStatuses = ['failed', 'completed', 'timedout', 'cancelled'] as const satisfies WorkflowStatus[]

export function isFinal(status: WorkflowStatus): boolean {
  return (finalStatuses as readonly string[]).includes(status)
}

/** A longer task of a bot, with a beginning and an end. */
export const workflow = closedObject(
  {
    id: { type: 'string' },
    name: { type: 'string' },
    status: { enum: workflowStatuses },
    input: { type: 'object' },
    output: { type: 'object' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
    timeoutAt: { type: 'string', format: 'date-time' },
    tags,
  },
  {
    parentWorkflowId: { type: 'string' },
    conversationId: { type: 'string' },
    userId: { type: 'string' },
    completedAt: { type: 'string', format: 'date-time' },
    failureReason: { type: 'string' },
  },
)

export type Workflow = Infer<typeof workflow>

export function toWorkflow(row: WorkflowRow): Workflow {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    input: row.input,
    output: row.output,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    timeoutAt: row.timeout_at.toISOString(),
    tags: row.tags,
    ...(row.parent_id && { parentWorkflowId: row.parent_id }),
    ...(row.conversation_id && { conversationId: row.conversation_id }),
    ...(row.user_id && { userId: row.user_id }),
    ...(row.completed_at && { completedAt: row.completed_at.toISOString() }),
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
  }
}

/** The fields of a new workflow. */
export const newWorkflow = closedObject(
  {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    status: { enum: ['pending', 'in_progress', 'listening'] },
  },
  {
    input: { type: 'object' },
    parentWorkflowId: { type: 'string' },
    conversationId: { type: 'string' },
    userId: { type: 'string' },
    timeoutAt: { type: 'string', format: 'date-time', description: 'Default: in one day.' },
    tags: tagsInput,
    eventId: {
      type: 'string',
      description: 'The event that the bot is handling; required with the status in_progress.',
    },
  },
)
