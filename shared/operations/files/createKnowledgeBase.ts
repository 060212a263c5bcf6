import { closedObject } from '../../schema.ts'
import { fileTags } from '../../models/file.ts'
import { knowledgeBase, knowledgeBaseName, toKnowledgeBase } from '../../models/knowledge-base.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { insertKnowledgeBase } from '../../store/knowledge-bases.ts'
import { assertBot } from './assert-bot.ts'

export const createKnowledgeBase = operation({
  name: 'createKnowledgeBase',
  description: 'Creates a knowledge base, to which files belong by their tags.',
  method: 'POST',
  path: '/v1/files/knowledge-bases',
  access: 'bot',
  errors: ['AlreadyExists'],
  recordsMembers: true,
  input: closedObject({ name: knowledgeBaseName }, { tags: fileTags }),
  output: closedObject({ knowledgeBase }),

  async handle(context, input) {
    const { botId } = context.caller
    assertBot(context.caller)
    const { name, tags = {} } = input
    return {
      knowledgeBase: await once(context, input, async (db) =>
        toKnowledgeBase(await insertKnowledgeBase(db, { botId, name, tags })),
      ),
    }
  },
})
