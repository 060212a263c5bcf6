import type { Infer } from '../schema.ts'
import type { Invitation } from '../store/invitations.ts'
import { role } from './member.ts'

/** What an invitation is to. */
export const invitation = {
  type: 'object',
  additionalProperties: false,
  required: ['workspaceId', 'workspaceName', 'email', 'role', 'expiresAt'],
  properties: {
    workspaceId: { type: 'string' },
    workspaceName: { type: 'string' },
    email: { type: 'string', description: 'The address that was invited.' },
    role,
    expiresAt: { type: 'string', format: 'date-time' },
  },
} as const

export function toInvitation(row: Invitation): Infer<typeof invitation> {
  return {
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    email: row.email,
    role: row.role,
    expiresAt: row.invitation_expires_at.toISOString(),
  }
}
