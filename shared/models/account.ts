import type { Infer } from '../schema.ts'
import type { AccountRow } from './tables.ts'

/** The fields that an account may set of itself. */
export const accountFields = {
  displayName: { type: 'string', minLength: 1, maxLength: 200 },
  profilePicture: { type: 'string', maxLength: 40_000 },
} as const

export const account = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'email', 'displayName', 'emailVerified', 'createdAt'],
  properties: {
    ...accountFields,
    id: { type: 'string' },
    email: { type: 'string', description: 'Empty for the platform’s first account.' },
    emailVerified: { const: false, description: 'Always false: the platform sends no mail.' },
    createdAt: { type: 'string', format: 'date-time' },
  },
} as const

export function toAccount(row: AccountRow): Infer<typeof account> {
  return {
    id: row.id,
    email: row.email ?? '',
    displayName: row.name,
    emailVerified: false,
    ...(row.picture_url !== null && { profilePicture: row.picture_url }),
    createdAt: row.created_at.toISOString(),
  }
}
