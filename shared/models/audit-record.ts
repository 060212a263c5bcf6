import { closedObject, type Infer } from '../schema.ts'
import type { AuditRecordRow } from './tables.ts'

/** The published API's names of operations, for those that have one. */
const actions: Record<string, (typeof published)[number]> = {
  createWorkspace: 'CREATE_WORKSPACE',
  updateWorkspace: 'UPDATE_WORKSPACE',
  deleteWorkspace: 'CLOSE_WORKSPACE',
  createWorkspaceMember: 'ADD_WORKSPACE_MEMBER',
  acceptInvitation: 'ADD_WORKSPACE_MEMBER',
  updateWorkspaceMember: 'UPDATE_WORKSPACE_MEMBER',
  deleteWorkspaceMember: 'REMOVE_WORKSPACE_MEMBER',
  createBot: 'CREATE_BOT',
  updateBot: 'UPDATE_BOT',
  deleteBot: 'DELETE_BOT',
  deployBotVersion: 'DEPLOY_BOT',
  rollbackBot: 'DEPLOY_BOT',
}

const published = [
  'UNKNOWN',
  'ADD_WORKSPACE_MEMBER',
  'REMOVE_WORKSPACE_MEMBER',
  'UPDATE_WORKSPACE_MEMBER',
  'CLOSE_WORKSPACE',
  'CREATE_BOT',
  'CREATE_WORKSPACE',
  'DELETE_BOT',
  'DEPLOY_BOT',
  'UPDATE_BOT',
  'UPDATE_WORKSPACE',
] as const

/** One administrative action. */
export const auditRecord = closedObject(
  {
    id: { type: 'string' },
    recordedAt: { type: 'string', format: 'date-time' },
    userId: { type: 'string', description: 'The account that performed the action.' },
    userEmail: { type: ['string', 'null'] },
    resourceId: { type: ['string', 'null'] },
    resourceName: { type: ['string', 'null'] },
    value: {
      type: ['string', 'null'],
      description: 'The names of the given fields, and the values of audited fields; never a secret.',
    },
    action: { enum: published },
  },
  {
    operation: { type: 'string', description: 'The operation’s name, also when `action` has no value for it.' },
    outcome: {
      enum: ['unknown', 'done'],
      description:
        'Unknown while the action is in progress, and after an interruption that may have left it incomplete.',
    },
  },
)

export function toAuditRecord(row: AuditRecordRow): Infer<typeof auditRecord> {
  return {
    id: row.id,
    recordedAt: row.created_at.toISOString(),
    userId: row.account_id,
    userEmail: row.account_email,
    resourceId: row.resource_id,
    resourceName: row.resource_name,
    value: row.fields || null,
    action: actions[row.operation] ?? 'UNKNOWN',
    operation: row.operation,
    outcome: row.outcome,
  }
}
