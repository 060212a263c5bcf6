import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { uploadAddress } from '../../files/file-addresses.ts'
import { showFile } from '../../files/show-file.ts'
import { newId } from '../../ids.ts'
import { uploadableFile } from '../../models/file.ts'
import { isAllowedType, webchatConfigurationOf } from '../../models/webchat-configuration.ts'
import { operation } from '../../rpc/operation.ts'
import { assertQuota, assertVisitorFileSize, assertVisitorQuota } from '../../store/files.ts'
import { upsertFile } from '../../store/runtime-files.ts'
import { joinedConversation, presentUser } from '../chat/external-ids.ts'
import { contentTypeOf, newPublicId, toExpiry } from '../files/file-input.ts'

const maxDays = 30
const dayMilliseconds = 24 * 3600 * 1000

/** The fields of a file that a visitor sees: not those of its owner, nor of the search. */
const visitorFile = closedObject({
  id: uploadableFile.properties.id,
  key: uploadableFile.properties.key,
  url: { ...uploadableFile.properties.url, description: 'The permanent address of the content.' },
  uploadUrl: uploadableFile.properties.uploadUrl,
  contentType: uploadableFile.properties.contentType,
  expiresAt: { type: 'string', format: 'date-time' },
})

export const createFile = operation({
  name: 'createFile',
  description:
    'Creates a file of the visitor, whose content is sent to `uploadUrl`. Everybody who knows the address of the content may ' +
    'read it; it cannot be guessed. The file is deleted with the visitor, or when it expires.',
  method: 'POST',
  path: '/webchat/{webhookId}/files',
  access: 'user',
  errors: ['Forbidden', 'QuotaExceeded'],
  status: 201,
  input: closedObject(
    {
      key: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description: 'The name of the file. Its extension determines the type of the content.',
      },
      size: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Bytes of the content.' },
    },
    {
      tags: {
        type: 'object',
        properties: { conversation: { type: 'string', description: 'The conversation to which it is sent.' } },
      },
      expiresAt: {
        type: 'string',
        format: 'date-time',
        description: `When it is deleted: ${maxDays} days from now unless an earlier time is given.`,
      },
    },
  ),
  output: closedObject({ file: visitorFile }),

  async handle(context, { key: name, size, tags: { conversation } = {}, expiresAt: given }) {
    const { db, config, caller } = context
    const { installation } = caller
    const contentType = contentTypeOf(name)
    const configuration = webchatConfigurationOf(installation)
    if (!isAllowedType(configuration, contentType)) {
      const { fileTypes = [] } = configuration
      const allowed = fileTypes.length > 0 ? `only ${fileTypes.join(', ')}` : 'no files'
      throw new ApiError(
        'InvalidPayload',
        `key: the file is of the type ${contentType}, and visitors may send ${allowed}`,
      )
    }
    assertVisitorFileSize(size, config.files)
    const user = await presentUser(context)
    if (conversation !== undefined) await joinedConversation(context, conversation)
    const latest = new Date(Date.now() + maxDays * dayMilliseconds)
    const asked = given === undefined ? latest : toExpiry(given)
    const id = newId('file')
    const scope = { botId: installation.bot_id, installation }
    const row = await db.transaction(async (transaction) => {
      const created = await upsertFile(transaction, scope, {
        id,
        owner: { type: 'user', userId: user.id },
        // No name of a visitor's is that of another file.
        key: `${id}/${name}`,
        declaredSize: size,
        contentType,
        tags: {
          source: 'integration',
          integrationName: installation.integration,
          user: caller.externalId,
          ...(conversation !== undefined && { conversation }),
        },
        metadata: {},
        accessPolicies: ['public_content'],
        // Texts of strangers are no knowledge of the bot.
        index: false,
        indexing: undefined,
        publicId: newPublicId(),
        expiresAt: asked < latest ? asked : latest,
      })
      await assertQuota(transaction, installation.bot_id, config.files)
      await assertVisitorQuota(
        transaction,
        { botId: installation.bot_id, installationId: installation.id, userId: user.id },
        config.files,
      )
      return created.row
    })
    const { url, expiresAt = latest.toISOString() } = showFile(context, row)
    const uploadUrl = uploadAddress(config, { fileId: id, generation: row.generation, maxBytes: size })
    return { file: { id, key: name, url, uploadUrl, contentType, expiresAt } }
  },
})
