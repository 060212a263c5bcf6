import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { isWebhookUrl, webhookSecret } from '../../models/chat-configuration.ts'
import { inboxWebhook } from '../../models/inbox-webhook.ts'
import { operation } from '../../rpc/operation.ts'
import { setWebhook } from '../../store/inbox-webhooks.ts'
import { describeInboxWebhook } from './getInboxWebhook.ts'

export const setInboxWebhook = operation({
  name: 'setInboxWebhook',
  description:
    'Sets the URL to which the platform sends what happens in the handovers of the workspace, in order, as POST requests. Its ' +
    'former URL and secret are replaced.',
  method: 'PUT',
  path: '/v1/admin/inbox-webhook',
  access: 'administrator',
  stability: 'experimental',
  auditedFields: ['url'],
  input: closedObject({ url: inboxWebhook.properties.url }, { secret: webhookSecret }),
  output: closedObject({ webhook: inboxWebhook }),

  async handle(context, { url, secret }) {
    const { db, config, caller } = context
    const { workspaceId } = caller
    if (!isWebhookUrl(url)) {
      throw new ApiError('InvalidPayload', 'url: must be an http or https URL without a user name and a password')
    }
    await setWebhook(db, config.secret, { workspaceId, url, secret })
    return { webhook: (await describeInboxWebhook(context))! }
  },
})
