import { closedObject } from '../../schema.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { once } from '../../rpc/journal.ts'
import { discriminateByTags, isSettled, toChange } from '../../models/tags.ts'
import { newWorkflow, toWorkflow, workflow } from '../../models/workflow.ts'
import { operation } from '../../rpc/operation.ts'
import { changeWorkflow, lockWorkflowName, matchWorkflow } from '../../store/workflows.ts'
import { startWorkflow, toNewWorkflow } from './new-workflow.ts'

export const getOrCreateWorkflow = operation({
  name: 'getOrCreateWorkflow',
  description:
    'Returns the newest workflow with this name, these tags and the given conversation, user and parent; creates it if ' +
    'it does not exist.',
  method: 'POST',
  path: '/v1/chat/workflows/get-or-create',
  access: 'bot',
  errors: ['ReferenceNotFound', 'RateLimited'],
  input: {
    type: 'object',
    additionalProperties: false,
    required: newWorkflow.required,
    properties: {
      ...newWorkflow.properties,
      discriminateByTags,
      discriminateByStatusGroup: { enum: ['active', 'finished'], description: 'Default: both.' },
    },
  },
  output: closedObject({ workflow, meta: closedObject({ created: { type: 'boolean' } }) }),

  async handle(context, input) {
    const { discriminateByTags: byTags, discriminateByStatusGroup: group, ...given } = input
    const { botId } = context.caller
    const { mailboxes, ...answer } = await once(context, input, async (transaction) => {
      const prepared = await toNewWorkflow({ ...context, db: transaction }, given)
      await lockWorkflowName(transaction, botId, prepared.name)
      const found = await matchWorkflow(transaction, { ...prepared, byTags, group })
      if (found) {
        const tags = toChange({}, prepared.tags)
        const changed = !isSettled(found.tags, tags) && (await changeWorkflow(transaction, botId, found.id, { tags }))
        return { workflow: toWorkflow(changed || found), meta: { created: false }, mailboxes: [] }
      }
      const { row, mailboxes } = await context.waiting.admit(transaction, context.caller.botId, () =>
        startWorkflow(transaction, prepared),
      )
      return { workflow: toWorkflow(row), meta: { created: true }, mailboxes }
    })
    for (const mailbox of mailboxes) await wakeWorker(context, 'event', mailbox, context.caller.botId)
    return answer
  },
})
