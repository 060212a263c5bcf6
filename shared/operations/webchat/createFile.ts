import { closedObject } from '../../schema.ts'
import { webchatConfigurationOf } from '../../models/webchat-configuration.ts'
import { operation } from '../../rpc/operation.ts'
import { joinedConversation, presentUser } from '../chat/external-ids.ts'
import { toExpiry } from '../files/file-input.ts'
import { assertSentType, createSentFile, maxSentDays, sentFile, sentFileInput } from '../files/sent-file.ts'

export const createFile = operation({
  name: 'createFile',
  description:
    'Creates a file of the visitor, whose content is sent to `uploadUrl`. Everybody who knows the address of the content may ' +
    'read it; it cannot be guessed. The file is deleted with the visitor, or when it expires.',
  method: 'POST',
  path: '/webchat/{webhookId}/files',
  access: 'user',
  errors: ['Forbidden', 'QuotaExceeded', 'LimitExceeded', 'UnsupportedMediaType'],
  status: 201,
  input: closedObject(sentFileInput, {
    tags: {
      type: 'object',
      properties: { conversation: { type: 'string', description: 'The conversation to which it is sent.' } },
    },
    expiresAt: {
      type: 'string',
      format: 'date-time',
      description: `When it is deleted: ${maxSentDays} days from now unless an earlier time is given.`,
    },
  }),
  output: closedObject({ file: sentFile }),

  async handle(context, { key: name, size, tags: { conversation } = {}, expiresAt }) {
    const { caller } = context
    const { installation } = caller
    assertSentType(webchatConfigurationOf(installation), name)
    const user = await presentUser(context)
    if (conversation !== undefined) await joinedConversation(context, conversation)
    return createSentFile(context, {
      botId: installation.bot_id,
      installation,
      userId: user.id,
      name,
      size,
      tags: {
        source: 'integration',
        integrationName: installation.integration,
        user: caller.externalId,
        ...(conversation !== undefined && { conversation }),
      },
      ...(expiresAt !== undefined && { expiresAt: toExpiry(expiresAt) }),
    })
  },
})
