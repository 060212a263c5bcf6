import { closedObject } from '../../schema.ts'
import { listedKnowledgeBase, toListedKnowledgeBase } from '../../models/knowledge-base.ts'
import { tagFilter, toTagConditions } from '../../models/tag-filter.ts'
import { operation } from '../../rpc/operation.ts'
import { nestTagQuery } from '../../rpc/tag-query.ts'
import { pageOfKnowledgeBases } from '../../store/knowledge-bases.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { assertBot } from './assert-bot.ts'

export const listKnowledgeBases = operation({
  name: 'listKnowledgeBases',
  description: 'Lists the bot’s knowledge bases, the newest first.',
  method: 'GET',
  path: '/v1/files/knowledge-bases',
  access: 'bot',
  readQuery: nestTagQuery,
  input: closedObject({}, { ...pageInput, tags: tagFilter }),
  output: closedObject({ knowledgeBases: { type: 'array', items: listedKnowledgeBase }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    assertBot(caller)
    const page = await pageOfKnowledgeBases(db, caller.botId, toTagConditions(input.tags), pageRequest(input))
    return { knowledgeBases: page.rows.map(toListedKnowledgeBase), meta: toMeta(page) }
  },
})
