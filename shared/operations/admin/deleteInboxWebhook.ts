import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteWebhook } from '../../store/inbox-webhooks.ts'

export const deleteInboxWebhook = operation({
  name: 'deleteInboxWebhook',
  description: 'Removes the webhook of the workspace’s inbox, with the news that wait for it.',
  method: 'DELETE',
  path: '/v1/admin/inbox-webhook',
  access: 'administrator',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({}),
  output: closedObject({}),

  async handle({ db, caller }) {
    if (await deleteWebhook(db, caller.workspaceId)) return {}
    throw notFound('Webhook of the inbox')
  },
})
