import { closedObject } from '../../schema.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { once } from '../../rpc/journal.ts'
import { newWorkflow, toWorkflow, workflow } from '../../models/workflow.ts'
import { operation } from '../../rpc/operation.ts'
import { startWorkflow, toNewWorkflow } from './new-workflow.ts'

export const createWorkflow = operation({
  name: 'createWorkflow',
  description: 'Creates a workflow. For a pending workflow, an event is created that starts it.',
  method: 'POST',
  path: '/v1/chat/workflows',
  access: 'bot',
  errors: ['ReferenceNotFound', 'RateLimited'],
  status: 201,
  input: newWorkflow,
  output: closedObject({ workflow }),

  async handle(context, input) {
    const { created, mailboxes } = await once(context, input, async (transaction) => {
      const prepared = await toNewWorkflow({ ...context, db: transaction }, input)
      const { row, mailboxes } = await context.waiting.admit(transaction, context.caller.botId, () =>
        startWorkflow(transaction, prepared),
      )
      return { created: toWorkflow(row), mailboxes }
    })
    for (const mailbox of mailboxes) await wakeWorker(context, 'event', mailbox, context.caller.botId)
    return { workflow: created }
  },
})
