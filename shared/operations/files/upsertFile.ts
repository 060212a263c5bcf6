import { closedObject, type Infer } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { uploadAddress } from '../../files/file-addresses.ts'
import { removeObject } from '../../files/objects.ts'
import { showFile } from '../../files/show-file.ts'
import { newId } from '../../ids.ts'
import { fileTags, indexing, policies, uploadableFile } from '../../models/file.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { onceEachRun } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { assertFileSize, assertQuota } from '../../store/files.ts'
import { findRuntimeUser } from '../../store/runtime-users.ts'
import {
  reopenUpload,
  upsertFile as upsertFileRow,
  type FileFields,
  type UpsertedFile,
} from '../../store/runtime-files.ts'
import type { Database } from '../../store/database.ts'
import { assertKey, contentTypeOf, newPublicId, ownerOf, toExpiry } from './file-input.ts'

const input = closedObject(
  {
    key: { type: 'string', description: 'Its name, unique in the bot, or among the files of an integration.' },
    size: {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Bytes, reserved in the quota until the content is there; 0 when they are not known yet.',
    },
  },
  {
    tags: fileTags,
    index: { type: 'boolean', description: 'Whether it is to be found by searches; not unless given.' },
    indexing,
    accessPolicies: policies,
    contentType: {
      type: 'string',
      maxLength: 200,
      pattern: '^[\\x20-\\x7e]*$',
      description: 'That of the key’s extension unless given.',
    },
    expiresAt: {
      type: 'string',
      format: 'date-time',
      description: 'When it is deleted, at most 90 days from now; never unless given.',
    },
    publicContentImmediatelyAccessible: { type: 'boolean', description: 'Has no effect: contents always are.' },
    metadata: { type: 'object', description: 'Any JSON values, by name.' },
    'x-user-id': { type: 'string', description: 'The user whose file it is: it is deleted with the user.' },
  },
)

/** The largest file that can be indexed. */
const maxIndexedMegabytes = 95

export const upsertFile = operation({
  name: 'upsertFile',
  description:
    'Creates a file, or replaces the one of that key: its content is erased, its id stays, and all else is as given. The content is sent to `uploadUrl`.',
  method: 'PUT',
  path: '/v1/files',
  access: 'bot',
  errors: ['QuotaExceeded', 'LimitExceeded', 'ReferenceNotFound'],
  headers: ['x-user-id'],
  isClosed: true,
  recordsMembers: true,
  auditedFields: ['key'],
  input,
  output: closedObject({ file: uploadableFile }),

  async handle(context, given) {
    const { caller, config } = context
    let upserted: Upserted | undefined
    const upsert = async (db: Database, id = newId('file')) => {
      const fields = await toFields({ ...context, db }, given)
      upserted = await upsertFileRow(db, caller, { ...fields, id })
      await assertQuota(db, caller.botId, config.files)
      return generationOf(upserted)
    }
    // Uploads are not in the journal, so a repeated run sends the content again. If the file has been upserted since, or
    // deleted, maybe by the same event, the repeated run upserts it again: whatever it repeats after that comes after it.
    await onceEachRun(context, given, upsert, async (db, recorded) => {
      upserted = await reopenUpload(db, recorded.id, recorded.generation)
      return upserted ? generationOf(upserted) : upsert(db, recorded.id)
    })
    const { row, formerObjectId } = upserted!
    if (formerObjectId !== undefined) await removeObject(context, formerObjectId)
    const uploadUrl = uploadAddress(config, { fileId: row.id, generation: row.generation })
    return { file: { ...showFile(context, row), uploadUrl } }
  },
})

type Upserted = Pick<UpsertedFile, 'row' | 'formerObjectId'>

function generationOf({ row: { id, generation } }: Upserted): { id: string; generation: number } {
  return { id, generation }
}

/** @throws ApiError for fields that the schema lets pass, and quotas of one file */
async function toFields(
  { db, caller, config }: BotContext,
  given: Infer<typeof input>,
): Promise<Omit<FileFields, 'id'>> {
  const { key, size, index = false, expiresAt, 'x-user-id': userId } = given
  assertKey(key)
  assertFileSize(size, config.files)
  if (index && size > maxIndexedMegabytes * 1024 * 1024) {
    throw new ApiError(
      'LimitExceeded',
      `A file that is indexed may have ${maxIndexedMegabytes} MB: send it without \`index\``,
    )
  }
  if (userId !== undefined && !(await findRuntimeUser(db, caller, userId))) {
    throw new ApiError('ReferenceNotFound', `User '${userId}' not found: x-user-id must be a user of the bot`)
  }
  return {
    owner: ownerOf(caller, userId),
    key,
    declaredSize: size,
    contentType: contentTypeOf(key, given.contentType),
    tags: given.tags ?? {},
    metadata: given.metadata ?? {},
    accessPolicies: [...new Set(given.accessPolicies)],
    index,
    indexing: given.indexing,
    publicId: newPublicId(),
    expiresAt: expiresAt === undefined ? undefined : toExpiry(expiresAt),
  }
}
