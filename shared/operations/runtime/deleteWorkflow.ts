import { closedObject } from '../../schema.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { notFound } from '../../errors.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteWorkflow as remove, lockWorkflow } from '../../store/workflows.ts'
import { sendParentEvent } from '../../messaging/workflow-updates.ts'
import { assertBotItself } from './new-workflow.ts'

export const deleteWorkflow = operation({
  name: 'deleteWorkflow',
  description: 'Deletes a workflow with its states and its children.',
  method: 'DELETE',
  path: '/v1/chat/workflows/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id }) {
    const { botId } = context.caller
    assertBotItself(context.caller)
    const { mailboxes } = await once(context, { id }, async (transaction) => {
      const row = await lockWorkflow(transaction, botId, id)
      if (!row) throw notFound(`Workflow '${id}'`)
      await remove(transaction, botId, id)
      return { mailboxes: await sendParentEvent(transaction, 'child_workflow_deleted', row) }
    })
    for (const mailbox of mailboxes) await wakeWorker(context, 'event', mailbox, botId)
    return {}
  },
})
