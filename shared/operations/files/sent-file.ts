import { closedObject } from '../../schema.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { uploadAddress } from '../../files/file-addresses.ts'
import { showFile } from '../../files/show-file.ts'
import { newId } from '../../ids.ts'
import { uploadableFile } from '../../models/file.ts'
import { isAllowedType, type WebchatConfiguration } from '../../models/webchat-configuration.ts'
import { assertQuota, assertVisitorFileSize, assertVisitorQuota } from '../../store/files.ts'
import { upsertFile, type FileOwner } from '../../store/runtime-files.ts'
import { transact } from '../../store/database.ts'
import { contentTypeOf, newPublicId } from './file-input.ts'

/** Files that people send in conversations: visitors of a web chat, and members who answer. */

/** A sent file is deleted after so many days at the latest. */
export const maxSentDays = 30
const dayMilliseconds = 24 * 3600 * 1000

/** The input fields of a sent file. */
export const sentFileInput = {
  key: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    description: 'The name of the file. Its extension determines the type of the content.',
  },
  size: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Bytes of the content.' },
} as const

/** The fields of a file that its sender sees: not those of its owner, nor of the search. */
export const sentFile = closedObject({
  id: uploadableFile.properties.id,
  key: uploadableFile.properties.key,
  url: { ...uploadableFile.properties.url, description: 'The permanent address of the content.' },
  uploadUrl: uploadableFile.properties.uploadUrl,
  contentType: uploadableFile.properties.contentType,
  expiresAt: { type: 'string', format: 'date-time' },
})

/** A file that a person is about to send. */
export interface NewSentFile {
  botId: string
  /** The chat in whose name it is stored; absent: the bot stores it. */
  installation?: { id: string }
  /** The user of the chat who sends it. */
  userId?: string
  /** Members are no strangers: their files count for the chat, and not for one user. */
  isMembers?: boolean
  name: string
  size: number
  tags: Record<string, string>
  /** Absent: in 30 days. A later time is shortened to that. */
  expiresAt?: Date
}

/**
 * Creates a file whose content is sent to its `uploadUrl`, with the quotas of visitors where a user of a chat sends it.
 *
 * @throws ApiError `QuotaExceeded`, or `LimitExceeded` when the file is larger than those of visitors may be
 */
export async function createSentFile({ db, config }: Context, given: NewSentFile) {
  const { botId, installation, userId, isMembers = false, name, size, tags, expiresAt } = given
  assertVisitorFileSize(size, config.files)
  const latest = new Date(Date.now() + maxSentDays * dayMilliseconds)
  const expiry = expiresAt && expiresAt < latest ? expiresAt : latest
  const id = newId('file')
  const contentType = contentTypeOf(name)
  const owner: FileOwner = userId === undefined ? { type: 'bot' } : { type: 'user', userId }
  const row = await transact(db, async (transaction) => {
    const created = await upsertFile(
      transaction,
      { botId, ...(installation && { installation }) },
      {
        id,
        owner,
        // No name of a sender's is that of another file.
        key: `${id}/${name}`,
        declaredSize: size,
        contentType,
        tags,
        metadata: {},
        accessPolicies: ['public_content'],
        // Texts of people are no knowledge of the bot.
        index: false,
        indexing: undefined,
        publicId: newPublicId(),
        expiresAt: expiry,
      },
    )
    await assertQuota(transaction, botId, config.files)
    if (installation && userId !== undefined) {
      const where = { botId, installationId: installation.id, userId: isMembers ? null : userId }
      await assertVisitorQuota(transaction, where, config.files)
    }
    return created.row
  })
  const { url } = showFile({ config }, row)
  const uploadUrl = uploadAddress(config, { fileId: id, generation: row.generation, maxBytes: size })
  return { file: { id, key: name, url, uploadUrl, contentType, expiresAt: expiry.toISOString() } }
}

/** @throws ApiError `UnsupportedMediaType` when a web chat takes no files of this type */
export function assertSentType(configuration: WebchatConfiguration, name: string): void {
  const contentType = contentTypeOf(name)
  if (isAllowedType(configuration, contentType)) return
  const { fileTypes = [] } = configuration
  const allowed = fileTypes.length > 0 ? `only ${fileTypes.join(', ')}` : 'no files'
  throw new ApiError(
    'UnsupportedMediaType',
    `key: the file is of the type ${contentType}, and the web chat takes ${allowed}`,
  )
}
