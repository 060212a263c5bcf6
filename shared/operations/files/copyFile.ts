import { closedObject } from '../../schema.ts'
import { ApiError, notFound } from '../../errors.ts'
import { copyObject, discardObject, removeObject } from '../../files/objects.ts'
import { showFile } from '../../files/show-file.ts'
import { newId } from '../../ids.ts'
import { file } from '../../models/file.ts'
import type { FileRow } from '../../models/tables.ts'
import { hasRole, type BotContext } from '../../rpc/caller.ts'
import { oncePrepared } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { findMemberForBot } from '../../store/accounts.ts'
import { beginRecord, endRecord } from '../../store/audit.ts'
import type { Database } from '../../store/database.ts'
import { findObject, type StoredObject } from '../../store/file-objects.ts'
import { assertFileSize, assertQuota, completeUpload } from '../../store/files.ts'
import { findFile, lockUser, upsertFile, type FileOwner } from '../../store/runtime-files.ts'
import type { Scope } from '../../store/scope.ts'
import { assertKey, newPublicId, ownerOf } from './file-input.ts'
import { noFile } from './not-found.ts'

export const copyFile = operation({
  name: 'copyFile',
  description: 'Copies a file with its content, tags, metadata and policies to another key.',
  method: 'POST',
  path: '/v1/files/{idOrKey}/{destinationKey}',
  access: 'bot',
  errors: ['AlreadyExists', 'RelationConflict', 'QuotaExceeded'],
  // It writes to the store of contents.
  awaitsWorker: true,
  headers: ['x-destination-bot-id'],
  recordsMembers: true,
  auditedFields: ['x-destination-bot-id'],
  input: closedObject(
    { idOrKey: { type: 'string' }, destinationKey: { type: 'string' } },
    {
      overwrite: { type: 'boolean', description: 'Whether a file of that key is replaced; not unless given.' },
      'x-destination-bot-id': { type: 'string', description: 'The bot that gets the copy, if it is another one.' },
    },
  ),
  output: closedObject({ file }),

  async handle(context, input) {
    const { caller } = context
    const { idOrKey, destinationKey, overwrite = false } = input
    assertKey(destinationKey)
    const destination = await findDestination(context, input['x-destination-bot-id'])
    return oncePrepared(context, input, async (transact) => {
      const source = await findFile(context.db, caller, idOrKey)
      if (!source) throw noFile(idOrKey)
      if (!overwrite && (await findFile(context.db, destination, destinationKey))) throw keyTaken(destinationKey)
      const content = await copyContent(context, source, destination)
      let formerObjectId: string | undefined
      try {
        const answer = await transact(async (transaction) => {
          const copy = { source, content, destination, destinationKey, overwrite }
          const copied = await storeCopy(transaction, context, copy)
          formerObjectId = copied.formerObjectId
          await recordElsewhere(transaction, caller, destination, copied.row)
          return { file: showFile(context, copied.row) }
        })
        const { id, status } = answer.file
        if (status === 'indexing_pending') await wakeWorker(context, 'index-file', id, destination.botId)
        return answer
      } catch (error) {
        formerObjectId = undefined
        await discardObject(context, content.id, error)
        throw error
      } finally {
        if (formerObjectId !== undefined) await removeObject(context, formerObjectId)
      }
    })
  },
})

/** @throws ApiError `RelationConflict` when there is no content yet, `QuotaExceeded` */
async function copyContent(context: BotContext, source: FileRow, { botId }: Scope): Promise<StoredObject> {
  const object = source.object_id === null ? undefined : await findObject(context.db, source.object_id)
  if (!object) throw new ApiError('RelationConflict', `The file '${source.key}' has no content yet: upload it first`)
  assertFileSize(object.size, context.config.files)
  return copyObject(context, object, botId)
}

interface Copy {
  source: FileRow
  content: StoredObject
  destination: Destination
  destinationKey: string
  overwrite: boolean
}

async function storeCopy(
  transaction: Database,
  { caller, config }: BotContext,
  { source, content, destination, destinationKey, overwrite }: Copy,
): Promise<{ row: FileRow; formerObjectId: string | undefined }> {
  const owner = ownerOfCopy(caller, source, destination)
  if (owner.userId !== undefined && !(await lockUser(transaction, owner.userId))) throw noFile(source.key)
  const { row, isNew, formerObjectId } = await upsertFile(transaction, destination, {
    id: newId('file'),
    owner,
    key: destinationKey,
    declaredSize: content.size,
    contentType: source.content_type,
    tags: source.tags,
    metadata: source.metadata,
    accessPolicies: source.access_policies,
    index: source.index,
    indexing: source.indexing ?? undefined,
    publicId: newPublicId(),
    expiresAt: source.expires_at ?? undefined,
  })
  if (!isNew && !overwrite) throw keyTaken(destinationKey)
  await assertQuota(transaction, destination.botId, config.files)
  const { id: objectId, size, sha256 } = content
  const upload = { fileId: row.id, generation: row.generation, objectId, size, sha256 }
  await completeUpload(transaction, upload, config.files)
  const completed = await findFile(transaction, destination, row.id)
  if (!completed) throw noFile(destinationKey)
  return { row: completed, formerObjectId }
}

/** A copy of a user's file is deleted with the user too, regardless of who makes it; users of one bot are none of another's. */
function ownerOfCopy(caller: BotContext['caller'], source: FileRow, destination: Scope): FileOwner {
  const isUsers = source.user_id !== null && destination.botId === source.bot_id
  return { ...ownerOf(caller), ...(isUsers && { userId: source.user_id! }) }
}

/** The files to which the copy belongs. */
interface Destination extends Scope {
  /** The workspace of another bot. */
  workspaceId?: string
}

/** The record of the call is that of the workspace of the source; another workspace has one of its own. */
async function recordElsewhere(
  transaction: Database,
  { botId: sourceBotId, member }: BotContext['caller'],
  { botId, workspaceId }: Destination,
  { id: fileId }: FileRow,
): Promise<void> {
  if (!member || workspaceId === undefined || workspaceId === member.workspaceId) return
  const id = newId('audit')
  const fields = `botId=${botId}, sourceBotId=${sourceBotId}`
  const { accountId } = member
  const record = { id, workspaceId, accountId, email: null, operation: 'copyFile', fields, resourceId: fileId }
  await beginRecord(transaction, record)
  await endRecord(transaction, id, { id: fileId })
}

/**
 * Where the copy goes: a caller's own files, or those of another bot where the same member may act as that.
 * @throws ApiError `ResourceNotFound`
 */
async function findDestination({ db, caller }: BotContext, botId = caller.botId): Promise<Destination> {
  if (botId === caller.botId) return caller
  const { member, installation } = caller
  const other = member && !installation ? await findMemberForBot(db, botId, member.accountId) : undefined
  if (other && hasRole(other, 'developer')) return { botId, workspaceId: other.workspaceId }
  throw notFound(`Bot '${botId}'`)
}

function keyTaken(key: string): ApiError {
  return new ApiError('AlreadyExists', `There is a file with the key '${key}' already: set overwrite to replace it`)
}
