import { closedObject, type Infer } from '../schema.ts'
import { accessPolicies, fileStatuses, type FileRow } from './tables.ts'
import { tags } from './tags.ts'

/** Keys that cannot be part of a path: URL parsers remove the first two, and the others are paths of their own. */
const refusedKeys = new Set(['.', '..', 'search', 'tags', 'knowledge-bases'])

const maxKeyBytes = 1024

/** Why a key cannot be one; undefined when it can. */
export function faultOfKey(key: string): string | undefined {
  if (refusedKeys.has(key)) return `A file cannot have the key '${key}', by which it could not be addressed`
  if (!key.isWellFormed() || key.includes('\0')) return 'The key of a file must be text without U+0000'
  const bytes = Buffer.byteLength(key)
  if (bytes > 0 && bytes <= maxKeyBytes) return undefined
  return `The key of a file has 1 to ${maxKeyBytes} bytes of UTF-8, not ${bytes}`
}

/** Upper bound of the tags of a file. */
export const maxFileTags = 50

const tagName = { type: 'string', minLength: 1, maxLength: 200 } as const

/** The tags of a new file. */
export const fileTags = {
  type: 'object',
  maxProperties: maxFileTags,
  propertyNames: tagName,
  additionalProperties: { type: 'string', maxLength: 1000 },
} as const

/** A change of tags: null deletes one. */
export const changedFileTags = {
  type: 'object',
  maxProperties: 2 * maxFileTags,
  propertyNames: tagName,
  additionalProperties: { type: ['string', 'null'], maxLength: 1000 },
  description: 'Null deletes a tag; tags that are not named stay.',
} as const

export const policies = {
  type: 'array',
  maxItems: 10,
  items: { enum: accessPolicies },
  description:
    '`public_content`: everybody who has its address reads the content. `integrations`: the integrations of the bot read ' +
    'the file. None: it is private.',
} as const

/** How a file is to be indexed. Callers spell the fields of `vision` in several ways, so those may be anything. */
export const indexing = {
  type: 'object',
  required: ['configuration'],
  description: 'How the text is to be found and cut. Options that need a language model have no effect.',
  properties: {
    configuration: {
      type: 'object',
      properties: {
        parsing: {
          type: 'object',
          properties: {
            mode: { enum: ['agent', 'standard'] },
            minimumParagraphLength: { type: 'integer', minimum: 50, maximum: 2000 },
            smartCleanup: { type: 'boolean' },
          },
        },
        chunking: {
          type: 'object',
          properties: {
            maximumChunkLength: { type: 'integer', minimum: 100, maximum: 5000 },
            embeddedContextLevels: { type: 'integer', minimum: 0, maximum: 3 },
            embedBreadcrumb: { type: 'boolean' },
          },
        },
        summarization: { type: 'object' },
        stack: { enum: ['legacy', 'realtime-v1'] },
        vision: { type: 'object' },
      },
    },
  },
} as const

/** A file as its callers see it. Optional fields are absent, never null, when unset. */
export const file = closedObject(
  {
    id: { type: 'string' },
    botId: { type: 'string' },
    key: { type: 'string' },
    url: { type: 'string', description: 'The address of its content: permanent when it is public, else for an hour.' },
    size: { type: ['number', 'null'], description: 'In bytes; null until the content is there.' },
    contentType: { type: 'string' },
    tags,
    metadata: { type: 'object' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
    accessPolicies: { type: 'array', items: { enum: accessPolicies } },
    index: { type: 'boolean', description: 'Whether it is to be found by searches.' },
    status: { enum: fileStatuses },
    owner: closedObject(
      { type: { enum: ['bot', 'integration', 'user'] } },
      { id: { type: 'string' }, name: { type: 'string' }, alias: { type: 'string' } },
    ),
  },
  {
    failedStatusReason: { type: 'string' },
    expiresAt: { type: 'string', format: 'date-time' },
    indexingStack: { enum: ['v1', 'v2'] },
  },
)

export type File = Infer<typeof file>

/** A file with the address that takes its content. */
export const uploadableFile = {
  ...file,
  required: [...file.required, 'uploadUrl'],
  properties: {
    ...file.properties,
    uploadUrl: { type: 'string', description: 'Takes the content with one PUT, within a day and without credentials.' },
  },
} as const

/** @param url the address of its content */
export function toFile(row: FileRow, url: string): File {
  return {
    id: row.id,
    botId: row.bot_id,
    key: row.key,
    url,
    size: row.size === null ? null : Number(row.size),
    contentType: row.content_type,
    tags: row.tags,
    metadata: row.metadata,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    accessPolicies: row.access_policies,
    index: row.index,
    status: row.status,
    owner: toOwner(row),
    ...(row.failed_status_reason !== null && { failedStatusReason: row.failed_status_reason }),
    ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
    ...(row.status === 'indexing_completed' && { indexingStack: 'v2' as const }),
  }
}

function toOwner(row: FileRow): File['owner'] {
  const { owner_type: type, bot_id: botId, user_id: userId, owner_integration: name, owner_alias: alias } = row
  if (type === 'integration') return { type, ...(name !== null && { name }), ...(alias !== null && { alias }) }
  return { type, id: type === 'user' && userId !== null ? userId : botId }
}
