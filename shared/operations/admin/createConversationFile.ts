import { closedObject } from '../../schema.ts'
import { isWebchat } from '../../models/chat-integration.ts'
import { webchatConfigurationOf } from '../../models/webchat-configuration.ts'
import { operation } from '../../rpc/operation.ts'
import { findHandover } from '../../store/find-handovers.ts'
import { findMemberUser } from '../../store/handovers.ts'
import { findInstallation } from '../../store/installations.ts'
import { handoverInProgress } from '../../messaging/handovers.ts'
import { assertSentType, createSentFile, maxSentDays, sentFile, sentFileInput } from '../files/sent-file.ts'
import { findBotConversation } from './find-conversation.ts'
import { findOwnBot } from './find-version.ts'
import { takenBy } from './takeOverConversation.ts'

export const createConversationFile = operation({
  name: 'createConversationFile',
  description:
    'Creates a file that the caller sends in a conversation that is handed over to the caller. Its content is sent to ' +
    `\`uploadUrl\`, and a message has its \`url\`. Everybody who knows the address may read it; it is deleted in ${maxSentDays} days.`,
  method: 'POST',
  path: '/v1/admin/bots/{botId}/conversations/{conversationId}/files',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'RelationConflict', 'QuotaExceeded', 'LimitExceeded', 'UnsupportedMediaType'],
  status: 201,
  input: closedObject({ botId: { type: 'string' }, conversationId: { type: 'string' }, ...sentFileInput }),
  output: closedObject({ file: sentFile }),

  async handle(context, { botId, conversationId, key: name, size }) {
    const { db, config, caller } = context
    const { accountId } = caller
    await findOwnBot(context, botId)
    const conversation = await findBotConversation(db, botId, conversationId)
    const handover = await findHandover(db, botId, await handoverInProgress(db, botId, conversationId))
    if (handover?.account_id !== accountId) throw takenBy(handover)
    const { installation_id: id, integration, integration_id: integrationId } = conversation
    if (isWebchat(conversation)) {
      const installation = await findInstallation(db, config.secret, botId, id)
      if (installation) assertSentType(webchatConfigurationOf(installation), name)
    }
    // In conversations of other integrations the member's messages are the bot's, and so are the files.
    const userId = integrationId === null ? await findMemberUser(db, id, accountId) : undefined
    return createSentFile(context, {
      botId,
      ...(userId !== undefined && { installation: { id }, userId, isMembers: true }),
      name,
      size,
      tags: { source: 'integration', integrationName: integration, conversation: conversationId, member: accountId },
    })
  },
})
