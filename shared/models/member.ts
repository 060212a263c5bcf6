import type { Infer } from '../schema.ts'
import { roles, type Role } from './tables.ts'

export const role = {
  enum: roles,
  description:
    'A viewer looks; a developer also makes and changes bots and integrations; an administrator also members up to ' +
    'administrators and the workspace, and sees secrets; an owner also owners, and closes and creates workspaces.',
} as const

export const memberFields = {
  id: { type: 'string' },
  userId: { type: 'string', description: 'The account, by which the member goes too.' },
  email: {
    type: 'string',
    description: 'By which the member was added; empty for the account that the platform began with.',
  },
  createdAt: { type: 'string', format: 'date-time' },
  role,
  profilePicture: { type: 'string' },
  displayName: { type: 'string' },
  status: {
    enum: ['active', 'invited'],
    description: 'Invited: nobody has accepted the invitation, so nobody may do anything as this member.',
  },
  invitationExpiresAt: {
    type: 'string',
    format: 'date-time',
    description: 'Until when somebody invited can accept. Absent where the member has to be invited anew.',
  },
} as const

/** An account in a workspace, or one reserved for an invited person. */
export const member = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'userId', 'email', 'createdAt', 'role', 'displayName', 'status'],
  properties: memberFields,
} as const

/** A membership with the account's visible fields. */
export interface DescribedMemberRow {
  account_id: string
  role: Role
  created_at: Date
  name: string
  email: string | null
  picture_url: string | null
  invitation_expires_at: Date | null
  accepted_at: Date | null
}

export function toMember(row: DescribedMemberRow): Infer<typeof member> {
  return {
    id: row.account_id,
    userId: row.account_id,
    email: row.email ?? '',
    createdAt: row.created_at.toISOString(),
    role: row.role,
    ...(row.picture_url !== null && { profilePicture: row.picture_url }),
    displayName: row.name,
    status: row.accepted_at ? 'active' : 'invited',
    ...(!row.accepted_at &&
      row.invitation_expires_at && { invitationExpiresAt: row.invitation_expires_at.toISOString() }),
  }
}
