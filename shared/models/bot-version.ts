import type { BotVersionRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
import { version } from './bot.ts'

export const versionName = { type: 'string', minLength: 1, maxLength: 200 } as const
export const versionDescription = { type: 'string', maxLength: 2000 } as const

/** A version of a bot's code, as lists show it. */
export const botVersion = {
  ...version,
  required: [...version.required, 'name', 'isDeployed'],
  properties: {
    ...version.properties,
    name: { ...versionName, description: 'The given name; without one, the beginning of the hash.' },
    description: {
      ...versionDescription,
      description: 'The changes in this version: the given description; without one, the `note` of the upload.',
    },
    author: {
      ...closedObject({ id: { type: 'string' }, name: { type: 'string' } }, { email: { type: 'string' } }),
      description: 'The account that uploaded the version; absent when it is unknown.',
    },
    isDeployed: { type: 'boolean', description: 'Whether this version is deployed.' },
  },
} as const

/** A version with its code. */
export const botVersionWithCode = {
  ...botVersion,
  required: [...botVersion.required, 'code'],
  properties: {
    ...botVersion.properties,
    code: { type: 'string', description: 'The code as uploaded.' },
    files: {
      type: 'array',
      description: 'The author’s files, for a bundle whose source map contains them.',
      items: closedObject({ path: { type: 'string' }, content: { type: 'string' } }),
    },
  },
} as const

export function toBotVersion(row: DescribedVersionRow): Infer<typeof botVersion> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    kind: row.kind,
    hash: row.hash,
    hooks: row.hooks,
    actions: row.actions,
    ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
    name: row.name ?? row.hash.slice(0, 7),
    ...(row.description !== null && { description: row.description }),
    ...(row.author_id !== null && {
      author: {
        id: row.author_id,
        name: row.author_name ?? '',
        ...(row.author_email !== null && { email: row.author_email }),
      },
    }),
    isDeployed: row.is_deployed,
  }
}

/** A version without its code. */
export interface DescribedVersionRow extends Pick<
  BotVersionRow,
  'id' | 'kind' | 'hash' | 'hooks' | 'actions' | 'name' | 'description' | 'author_id' | 'created_at'
> {
  author_name: string | null
  author_email: string | null
  is_deployed: boolean
  /** Why the version is disabled; null when it runs. */
  disabled_reason: string | null
}
