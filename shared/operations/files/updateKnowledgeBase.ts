import { closedObject } from '../../schema.ts'
import { changedFileTags } from '../../models/file.ts'
import { knowledgeBase, knowledgeBaseName, toKnowledgeBase } from '../../models/knowledge-base.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { updateKnowledgeBase as update } from '../../store/knowledge-bases.ts'
import { assertBot } from './assert-bot.ts'
import { assertTagCount, toPatch } from './file-input.ts'
import { noKnowledgeBase } from './not-found.ts'

export const updateKnowledgeBase = operation({
  name: 'updateKnowledgeBase',
  description: 'Renames a knowledge base, and changes its tags.',
  method: 'PUT',
  path: '/v1/files/knowledge-bases/{id}',
  access: 'bot',
  errors: ['AlreadyExists', 'LimitExceeded'],
  recordsMembers: true,
  input: closedObject({ id: { type: 'string' }, name: knowledgeBaseName }, { tags: changedFileTags }),
  output: closedObject({ knowledgeBase }),

  async handle(context, input) {
    const { botId } = context.caller
    assertBot(context.caller)
    const { id, name } = input
    const tags = toPatch(input.tags)
    return {
      knowledgeBase: await once(context, input, async (transaction) => {
        const row = await update(transaction, botId, { id, name, tags })
        if (!row) throw noKnowledgeBase(id)
        assertTagCount(row)
        return toKnowledgeBase(row)
      }),
    }
  },
})
