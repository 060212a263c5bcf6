import { closedObject, type Infer } from '../schema.ts'
import type { WorkspaceRow } from './tables.ts'

const name = { type: 'string', minLength: 1, maxLength: 64 } as const

export const handle = {
  type: 'string',
  pattern: '^[a-z0-9_-]{1,64}$',
  description:
    'Lower-case letters, digits, _ and -; the prefix of the names of the workspace’s integrations, unique on the platform.',
} as const

/** The fields of a workspace's profile. */
export const profileFields = {
  about: { type: 'string', maxLength: 2000 },
  profilePicture: { type: 'string', maxLength: 2000 },
  contactEmail: { type: 'string', maxLength: 200 },
  website: { type: 'string', maxLength: 2000 },
  socialAccounts: { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 2000 } },
  isPublic: { type: 'boolean' },
} as const

/** The fields of a workspace that administrators may set. */
export const workspaceFields = { ...profileFields, name, handle } as const

export const workspaceName = name

/** A workspace. The platform has no billing: the billing fields exist because clients read them. */
export const workspace = closedObject(
  {
    id: { type: 'string' },
    name: { type: 'string' },
    ownerId: { type: 'string', description: 'The account with the longest ownership.' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
    botCount: { type: 'integer' },
    billingVersion: { const: 'v4' },
    plan: { const: 'enterprise' },
    blocked: { const: false },
    spendingLimit: { const: 0 },
    activeTrialId: { type: 'null' },
  },
  { ...profileFields, handle: { type: 'string' } },
)

const { isPublic: _isPublic, ...publicProfile } = profileFields

/** The profile of a workspace, as those see it who are no members. */
export const publicWorkspace = closedObject(
  {
    id: { type: 'string' },
    name: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
  { ...publicProfile, handle: { type: 'string' } },
)

export function toPublicWorkspace(row: WorkspaceRow): Infer<typeof publicWorkspace> {
  const { isPublic: _public, ...profile } = row.profile
  return {
    ...profile,
    id: row.id,
    name: row.name,
    ...(row.handle !== null && { handle: row.handle }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** A workspace with its owner and the number of its bots. */
export interface DescribedWorkspaceRow extends WorkspaceRow {
  owner_id: string | null
  bot_count: number
}

export function toWorkspace(row: DescribedWorkspaceRow): Infer<typeof workspace> {
  return {
    ...row.profile,
    id: row.id,
    name: row.name,
    ...(row.handle !== null && { handle: row.handle }),
    ownerId: row.owner_id ?? '',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    botCount: row.bot_count,
    billingVersion: 'v4',
    plan: 'enterprise',
    blocked: false,
    spendingLimit: 0,
    activeTrialId: null,
  }
}
