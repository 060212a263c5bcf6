import { operation } from '../../operation.ts'
import { deleteBotRow } from '../../store/bots.ts'
import { listInstallations } from '../../store/installations.ts'
import { noSuchBot } from './describe-bot.ts'

export const deleteBot = operation({
  name: 'deleteBot',
  description: 'Deletes a bot with everything that belongs to it.',
  method: 'DELETE',
  path: '/v1/admin/bots/{id}',
  access: 'developer',
  input: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: { type: 'string' } } },
  output: { type: 'object', additionalProperties: false, properties: {} },

  async handle({ db, caller, installations }, { id }) {
    const deleted = await listInstallations(db, id)
    if (!(await deleteBotRow(db, caller.workspaceId, id))) throw noSuchBot(id)
    for (const { webhook_id: webhookId } of deleted) await installations.changed(webhookId)
    return {}
  },
})
