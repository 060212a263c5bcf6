import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { tagsInput } from '../../models/tags.ts'
import { toWorkflow, workflow, workflowStatuses } from '../../models/workflow.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfWorkflows } from '../../store/workflows.ts'
import { assertBotItself } from './new-workflow.ts'

export const listWorkflows = operation({
  name: 'listWorkflows',
  description:
    'Lists the bot’s workflows, newest first. A page reads at most 10,000 workflows: with a filter by status or user that few ' +
    'pass, it may have few or none and still a nextToken.',
  method: 'GET',
  path: '/v1/chat/workflows',
  access: 'bot',
  input: closedObject(
    {},
    {
      tags: { ...tagsInput, description: 'Only workflows with all of these tags.' },
      conversationId: { type: 'string' },
      userId: { type: 'string' },
      parentWorkflowId: { type: 'string' },
      statuses: { type: 'array', items: { enum: workflowStatuses } },
      name: { type: 'string' },
      ...pageInput,
    },
  ),
  output: closedObject({ workflows: { type: 'array', items: workflow }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    assertBotItself(caller)
    const page = await pageOfWorkflows(db, caller.botId, input, pageRequest(input))
    return { workflows: page.rows.map(toWorkflow), meta: toMeta(page) }
  },
})
