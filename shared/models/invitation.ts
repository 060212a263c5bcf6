import type { MemberRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
import { role } from './member.ts'

/** An invitation, as the invited person sees it. */
export const invitation = closedObject({
  workspaceId: { type: 'string' },
  workspaceName: { type: 'string' },
  email: { type: 'string', description: 'The invited email address.' },
  role,
  expiresAt: { type: 'string', format: 'date-time' },
})

export function toInvitation(row: Invitation): Infer<typeof invitation> {
  return {
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    email: row.email,
    role: row.role,
    expiresAt: row.invitation_expires_at.toISOString(),
  }
}

/** An invitation and its state. */
export interface Invitation extends Pick<MemberRow, 'workspace_id' | 'account_id' | 'role' | 'accepted_at'> {
  workspace_name: string
  email: string
  invitation_expires_at: Date
  is_expired: boolean
}
