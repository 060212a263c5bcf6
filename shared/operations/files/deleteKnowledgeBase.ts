import { closedObject } from '../../schema.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteKnowledgeBase as deleteRow } from '../../store/knowledge-bases.ts'
import { assertBot } from './assert-bot.ts'
import { noKnowledgeBase } from './not-found.ts'

export const deleteKnowledgeBase = operation({
  name: 'deleteKnowledgeBase',
  description: 'Deletes a knowledge base; its files stay.',
  method: 'DELETE',
  path: '/v1/files/knowledge-bases/{id}',
  access: 'bot',
  recordsMembers: true,
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, input) {
    assertBot(context.caller)
    await once(context, input, async (db) => {
      if (!(await deleteRow(db, context.caller.botId, input.id))) throw noKnowledgeBase(input.id)
      return {}
    })
    return {}
  },
})
