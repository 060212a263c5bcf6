import { closedObject } from '../../schema.ts'
import { showFile } from '../../files/show-file.ts'
import { changedFileTags, file, policies } from '../../models/file.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { updateFile, type FileChange } from '../../store/runtime-files.ts'
import { assertTagCount, newPublicId, toExpiry, toPatch } from './file-input.ts'
import { notOwn } from './not-found.ts'

export const updateFileMetadata = operation({
  name: 'updateFileMetadata',
  description: 'Changes what is known of a file; its content stays.',
  method: 'PUT',
  path: '/v1/files/{id}',
  access: 'bot',
  errors: ['LimitExceeded'],
  recordsMembers: true,
  input: closedObject(
    { id: { type: 'string', description: 'Its id, or its key.' } },
    {
      metadata: { type: 'object', description: 'Null deletes a field; fields that are not named stay.' },
      tags: changedFileTags,
      accessPolicies: policies,
      expiresAt: {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'When it is deleted, at most 90 days from now; null: never.',
      },
    },
  ),
  output: closedObject({ file }),

  async handle(context, input) {
    const { caller } = context
    const { id, metadata, tags, accessPolicies, expiresAt } = input
    return {
      file: await once(context, input, async (transaction) => {
        const change: FileChange = {
          metadata: toPatch(metadata),
          tags: toPatch(tags),
          accessPolicies: accessPolicies && [...new Set(accessPolicies)],
          expiresAt: typeof expiresAt === 'string' ? toExpiry(expiresAt) : expiresAt,
          publicId: newPublicId(),
        }
        const row = await updateFile(transaction, caller, id, change)
        if (!row) throw await notOwn(transaction, caller, id)
        assertTagCount(row)
        return showFile(context, row)
      }),
    }
  },
})
