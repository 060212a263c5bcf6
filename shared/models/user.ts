import type { UserRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
import { tags, toSeenTags, type Viewer } from './tags.ts'

/** A chat user. Optional fields are absent, never null, when unset. */
export const user = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
  { name: { type: 'string' }, pictureUrl: { type: 'string' }, profile: { type: 'string' } },
)

export type User = Infer<typeof user>

/** The fields that a client may set. */
export const userFields = {
  name: { type: 'string', maxLength: 200 },
  pictureUrl: { type: 'string', maxLength: 40_000 },
  profile: { type: 'string', maxLength: 1000, description: 'Free text about the user, which the bot can read.' },
} as const

/** @param id the id to show: the one that the client uses */
export function toUser(row: UserRow, id = row.foreign_id ?? row.id): User {
  return {
    id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(row.name !== null && { name: row.name }),
    ...(row.picture_url !== null && { pictureUrl: row.picture_url }),
    ...(row.profile !== null && { profile: row.profile }),
  }
}

/** A user as the runtime API shows it to bots and integrations: by its internal id, with tags. */
export const runtimeUser = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'createdAt', 'updatedAt', 'tags', 'properties'],
  properties: { ...user.properties, tags, properties: tags },
} as const

export type RuntimeUser = Infer<typeof runtimeUser>

/** @param viewer the bot by default */
export function toRuntimeUser(row: UserRow, viewer: Viewer = {}): RuntimeUser {
  return { ...toUser(row, row.id), tags: toSeenTags(viewer, row.tags), properties: row.properties }
}
