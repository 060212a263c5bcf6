import { closedObject, type Infer } from '../schema.ts'
import { roles, type Role } from './tables.ts'

export const role = {
  enum: roles,
  description:
    'An agent answers in conversations that are handed over, and sees nothing else. A viewer reads. A developer also ' +
    'manages bots and integrations. An administrator also manages the workspace and members up to administrators, and ' +
    'reads secrets. An owner also manages owners, and creates and closes workspaces.',
} as const

/** Whether a role includes another's permissions. A viewer sees no contents of messages, so it does not include an agent's. */
export function includesRole(role: Role, other: Role): boolean {
  if (other === 'agent') return role !== 'viewer'
  return roles.indexOf(role) >= roles.indexOf(other)
}

/** The roles that include another's permissions. */
export function rolesIncluding(other: Role): Role[] {
  return roles.filter((role) => includesRole(role, other))
}

/** An account in a workspace, or one reserved for an invited person. */
export const member = closedObject(
  {
    id: { type: 'string' },
    userId: { type: 'string', description: 'The id of the account, which is also the id of the member.' },
    email: {
      type: 'string',
      description: 'The email address that was invited; empty for the platform’s first account.',
    },
    createdAt: { type: 'string', format: 'date-time' },
    role,
    displayName: { type: 'string' },
    status: {
      enum: ['active', 'invited'],
      description: 'Invited: the invitation is not yet accepted, and the member has no access.',
    },
  },
  {
    profilePicture: { type: 'string' },
    invitationExpiresAt: {
      type: 'string',
      format: 'date-time',
      description: 'The time until which the invitation can be accepted; absent when a new invitation is needed.',
    },
  },
)

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
