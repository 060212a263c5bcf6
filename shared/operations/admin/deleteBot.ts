import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { beginDeletion, deleteBotRow, lockBot } from '../../store/bots.ts'
import { deleteRowsOfBot } from '../../store/delete-rows.ts'
import { transact } from '../../store/database.ts'
import { listInstallations } from '../../store/installations.ts'
import { noSuchBot } from './describe-bot.ts'
import { changeInstallations, finishInstallations, isUnregistered } from '../../integrations/install.ts'

export const deleteBot = operation({
  name: 'deleteBot',
  description: 'Unregisters a bot’s integrations, and deletes the bot with all its data.',
  method: 'DELETE',
  path: '/v1/admin/bots/{id}',
  access: 'developer',
  errors: ['ResourceNotFound', 'OperationTimeout'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id }) {
    const { db, caller, installations } = context
    const postCommitWork = await transact(db, async (transaction) => {
      if (!(await lockBot(transaction, caller.workspaceId, id))) throw noSuchBot(id)
      await beginDeletion(transaction, id)
      const registered = (await listInstallations(transaction, id)).filter(
        (row) => row.integration_id !== null && !isUnregistered(row),
      )
      const removals = registered.map((present) => ({ kind: 'remove', present }) as const)
      return changeInstallations(context, transaction, id, removals)
    })
    await finishInstallations(context, postCommitWork)
    // Those that have not unregistered, or have nothing to unregister, are deleted with the bot.
    await deleteRowsOfBot(db, id)
    const left = await listInstallations(db, id)
    if (!(await deleteBotRow(db, caller.workspaceId, id))) throw noSuchBot(id)
    for (const { webhook_id: webhookId } of left) await installations.changed(webhookId)
    return {}
  },
})
