import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { passageTypes } from '../../models/passage.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { setGivenPassages } from '../../store/given-passages.ts'
import { notOwn } from './not-found.ts'

export const setFilePassages = operation({
  name: 'setFilePassages',
  description: 'Replaces the passages of a file by given ones. Searches find them when the file is indexed.',
  method: 'PUT',
  path: '/v1/files/{id}/passages',
  access: 'bot',
  errors: ['QuotaExceeded'],
  recordsMembers: true,
  input: closedObject({
    id: { type: 'string', description: 'Its id, or its key.' },
    passages: {
      type: 'array',
      description: 'In document order.',
      items: closedObject(
        { content: { type: 'string', minLength: 1, maxLength: 50_000 } },
        {
          type: { enum: passageTypes, description: 'paragraph unless given.' },
          pageNumber: { type: 'integer', minimum: 0, maximum: 1_000_000 },
        },
      ),
    },
  }),
  output: closedObject({}),

  async handle(context, input) {
    const { caller, config } = context
    const { maxFilePassages } = config.knowledge
    if (input.passages.length > maxFilePassages) {
      throw new ApiError(
        'QuotaExceeded',
        `A file may have ${maxFilePassages} passages, not ${input.passages.length}: have the operator raise FILE_PASSAGES`,
        { metadata: { setting: 'FILE_PASSAGES', maximum: maxFilePassages, requested: input.passages.length } },
      )
    }
    const passages = input.passages.map(({ content, type = 'paragraph', pageNumber }) => ({
      subtype: type,
      text: content.toWellFormed().replaceAll('\0', ''),
      breadcrumb: [],
      ...(pageNumber !== undefined && { pageNumber }),
    }))
    const { fileId } = await once(context, input, async (transaction) => {
      const set = await setGivenPassages(transaction, caller, input.id, passages, config.knowledge)
      if (set === undefined) throw await notOwn(transaction, caller, input.id)
      return { fileId: set }
    })
    await wakeWorker(context, 'index-file', fileId, caller.botId)
    return {}
  },
})
