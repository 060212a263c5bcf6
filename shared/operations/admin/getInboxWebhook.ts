import { closedObject, type Infer } from '../../schema.ts'
import type { Context } from '../../context.ts'
import { inboxWebhook } from '../../models/inbox-webhook.ts'
import type { Administrator } from '../../rpc/caller.ts'
import { operation } from '../../rpc/operation.ts'
import { countNews, findWebhook } from '../../store/inbox-webhooks.ts'

export const getInboxWebhook = operation({
  name: 'getInboxWebhook',
  description: 'Returns the webhook of the workspace’s inbox, without its secret; none where there is none.',
  method: 'GET',
  path: '/v1/admin/inbox-webhook',
  access: 'administrator',
  stability: 'experimental',
  input: closedObject({}),
  output: closedObject({}, { webhook: inboxWebhook }),

  async handle(context) {
    const webhook = await describeInboxWebhook(context)
    return webhook ? { webhook } : {}
  },
})

export async function describeInboxWebhook({
  db,
  config,
  caller,
}: Context & { caller: Administrator }): Promise<Infer<typeof inboxWebhook> | undefined> {
  const found = await findWebhook(db, config.secret, caller.workspaceId)
  if (!found) return undefined
  const { url, secret, failures } = found
  return { url, hasSecret: secret !== undefined, failures, waiting: await countNews(db, caller.workspaceId) }
}
