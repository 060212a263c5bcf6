import type { AccessPolicy, FileRow } from '../models/tables.ts'
import type { Change } from '../models/tags.ts'
import { query, type Database } from './database.ts'
import type { Scope } from './scope.ts'

/**
 * Files as bots and integrations see them: a bot has all of its files, an integration its own, and may read those whose
 * policy says so. A file that has expired does not exist, though the sweep has not deleted it yet.
 */

const existing = '(files.expires_at is null or files.expires_at > now())'

/** SQL for the condition that a caller may change a file. */
export const isOwn = `
  files.bot_id = :botId and ${existing} and (:installationId::text is null or files.key_space = :installationId)`

/** SQL for the condition that a caller may read a file. */
export const isReadable = `
  files.bot_id = :botId and ${existing}
  and (:installationId::text is null or files.key_space = :installationId
    or 'integrations' = any(files.access_policies))`

/** SQL for the condition that a file is the one that a caller names by its id, or by its key among the caller's own. */
const isNamed = `(files.id = :name or files.key_space = :keySpace and files.key = :name)`

/** The name space of a caller's keys. */
export function keySpaceOf({ installation }: Scope): string {
  return installation?.id ?? ''
}

/** The bindings of `isOwn` and `isReadable`. */
export function fileBindings({ botId, installation }: Scope): { botId: string; installationId: string | null } {
  return { botId, installationId: installation?.id ?? null }
}

function namedBindings(scope: Scope, name: string) {
  return { ...fileBindings(scope), keySpace: keySpaceOf(scope), name }
}

/** A file that a caller may read, by id or key; of two, the one with the id. */
export async function findFile(db: Database, scope: Scope, idOrKey: string): Promise<FileRow | undefined> {
  const [row] = await query<FileRow>(
    db,
    `select * from files where ${isReadable} and ${isNamed} order by files.id = :name desc limit 1`,
    namedBindings(scope, idOrKey),
  )
  return row
}

/** A file that a caller may change, by id or key; of two, the one with the id. */
export async function findOwnFile(db: Database, scope: Scope, idOrKey: string): Promise<FileRow | undefined> {
  const [row] = await query<FileRow>(
    db,
    `select * from files where ${isOwn} and ${isNamed} order by files.id = :name desc limit 1`,
    namedBindings(scope, idOrKey),
  )
  return row
}

/** Keeps a user from being deleted until the transaction ends. @returns whether the user exists */
export async function lockUser(transaction: Database, id: string): Promise<boolean> {
  return (await query(transaction, 'select id from users where id = :id for key share', { id })).length > 0
}

/** The owner of the file. */
export interface FileOwner {
  type: FileRow['owner_type']
  integration?: string
  alias?: string
  /** The user with whom it is deleted, which may be another one than the owner: a copy may be made by another user. */
  userId?: string
}

/** The fields of a file that an upsert sets, all of them. */
export interface FileFields {
  id: string
  owner: FileOwner
  key: string
  declaredSize: number
  contentType: string
  tags: Record<string, string>
  metadata: Record<string, unknown>
  accessPolicies: AccessPolicy[]
  index: boolean
  indexing: Record<string, unknown> | undefined
  /** Used where the content becomes public. */
  publicId: string
  expiresAt: Date | undefined
}

export interface UpsertedFile {
  row: FileRow
  /** Whether there was no file of this key. */
  isNew: boolean
  /** The content that the file had. */
  formerObjectId: string | undefined
}

/**
 * Creates a file without content, or begins a new generation of the file of that key: its content is gone, and all but
 * its id and the time of its creation are those given.
 */
export async function upsertFile(transaction: Database, scope: Scope, file: FileFields): Promise<UpsertedFile> {
  const bindings = fieldBindings(scope, file)
  // In one statement with the upsert, it would not see the row, which that has changed already.
  const [former] = await query<{ object_id: string | null; is_expired: boolean }>(
    transaction,
    `select object_id, not ${existing} as is_expired from files
     where bot_id = :botId and key_space = :keySpace and key = :key for update`,
    bindings,
  )
  const [row] = await query<FileRow>(
    transaction,
    `insert into files (id, bot_id, owner_type, owner_integration, owner_alias, user_id, key_space, key, declared_size,
       content_type, tags, metadata, access_policies, index, indexing, public_id, expires_at)
     values (:id, :botId, :ownerType, :integration, :alias, :userId, :keySpace, :key, :declaredSize, :contentType, :tags,
       :metadata, :accessPolicies, :index, :indexing,
       case when 'public_content' = any(:accessPolicies::text[]) then :publicId end, :expiresAt)
     on conflict (bot_id, key_space, key) do update set
       owner_type = excluded.owner_type, owner_integration = excluded.owner_integration,
       owner_alias = excluded.owner_alias, user_id = excluded.user_id, generation = files.generation + 1,
       status = 'upload_pending', failed_status_reason = null, object_id = null,
       declared_size = excluded.declared_size, size = null, sha256 = null, content_type = excluded.content_type,
       tags = excluded.tags, metadata = excluded.metadata, access_policies = excluded.access_policies,
       index = excluded.index, indexing = excluded.indexing, index_generation = files.index_generation + 1,
       public_id = case when excluded.public_id is not null then coalesce(files.public_id, excluded.public_id) end,
       requested_at = now(), expires_at = excluded.expires_at, updated_at = now()
     returning files.*`,
    bindings,
  )
  const isNew = row!.generation === 1 || former?.is_expired === true
  return { row: row!, isNew, formerObjectId: former?.object_id ?? undefined }
}

function fieldBindings(scope: Scope, file: FileFields) {
  return {
    id: file.id,
    botId: scope.botId,
    ownerType: file.owner.type,
    integration: file.owner.integration ?? null,
    alias: file.owner.alias ?? null,
    userId: file.owner.userId ?? null,
    keySpace: keySpaceOf(scope),
    key: file.key,
    declaredSize: file.declaredSize,
    contentType: file.contentType,
    tags: JSON.stringify(file.tags),
    metadata: JSON.stringify(file.metadata),
    accessPolicies: file.accessPolicies,
    index: file.index,
    indexing: file.indexing ? JSON.stringify(file.indexing) : null,
    publicId: file.publicId,
    expiresAt: file.expiresAt ?? null,
  }
}

/**
 * Begins another generation of a file with the same fields, for the repetition of the run that upserted it. The content is
 * gone, and the address of the former generation, to which that run may still send, is no longer valid. Undefined when the
 * file has been deleted, or upserted again: then it belongs to that upsert.
 */
export async function reopenUpload(
  db: Database,
  fileId: string,
  generation: number,
): Promise<{ row: FileRow; formerObjectId: string | undefined } | undefined> {
  const [row] = await query<FileRow & { former_object_id: string | null }>(
    db,
    `with former as (select id, object_id from files where id = :fileId and generation = :generation for update)
     update files set status = 'upload_pending', failed_status_reason = null, object_id = null, size = null,
       sha256 = null, generation = generation + 1, index_generation = index_generation + 1, requested_at = now(),
       updated_at = now()
     from former where files.id = former.id
     returning files.*, former.object_id as former_object_id`,
    { fileId, generation },
  )
  if (!row) return undefined
  const { former_object_id: formerObjectId, ...reopened } = row
  return { row: reopened, formerObjectId: formerObjectId ?? undefined }
}

/** A change of a file. Omitted fields stay. */
export interface FileChange {
  tags: Change
  metadata: { set: Record<string, unknown>; removed: string[] }
  accessPolicies?: AccessPolicy[] | undefined
  /** Null: it does not expire. */
  expiresAt?: Date | null | undefined
  /** Used where the content becomes public. */
  publicId: string
}

/** Changes a file of the caller's own. Undefined when there is none of that id or key. */
export async function updateFile(
  db: Database,
  scope: Scope,
  idOrKey: string,
  change: FileChange,
): Promise<FileRow | undefined> {
  const { tags, metadata, accessPolicies, expiresAt } = change
  const [row] = await query<FileRow>(
    db,
    `with named as (
       select id, coalesce(:accessPolicies::text[], access_policies) as policies
       from files where ${isOwn} and ${isNamed} order by files.id = :name desc limit 1 for update
     )
     update files set
       tags = (tags || :tags::jsonb) - :removedTags::text[],
       metadata = (metadata || :metadata::jsonb) - :removedMetadata::text[],
       access_policies = policies,
       public_id = case when 'public_content' = any(policies) then coalesce(public_id, :publicId) end,
       expires_at = case when :changesExpiry then :expiresAt::timestamptz else expires_at end,
       updated_at = now()
     from named where files.id = named.id
     returning files.*`,
    {
      ...namedBindings(scope, idOrKey),
      tags: JSON.stringify(tags.set),
      removedTags: tags.removed,
      metadata: JSON.stringify(metadata.set),
      removedMetadata: metadata.removed,
      accessPolicies: accessPolicies ?? null,
      publicId: change.publicId,
      changesExpiry: expiresAt !== undefined,
      expiresAt: expiresAt ?? null,
    },
  )
  return row
}

/** Deletes a file of the caller's own. Undefined when there is none of that id or key. */
export async function deleteFile(
  db: Database,
  scope: Scope,
  idOrKey: string,
): Promise<Pick<FileRow, 'id' | 'object_id'> | undefined> {
  const [row] = await query<Pick<FileRow, 'id' | 'object_id'>>(
    db,
    `delete from files where id = (
       select id from files where ${isOwn} and ${isNamed} order by files.id = :name desc limit 1
     ) returning id, object_id`,
    namedBindings(scope, idOrKey),
  )
  return row
}
