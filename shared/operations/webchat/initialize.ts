import { closedObject } from '../../schema.ts'
import { encryptionKeyId } from '../../integrations/user-keys.ts'
import { insertChatConversation } from '../../messaging/insert-chat-conversation.ts'
import { ApiError } from '../../errors.ts'
import { listening } from '../../models/listening.ts'
import { toMessage } from '../../models/message.ts'
import { toConversation } from '../../models/conversation.ts'
import { toWebchatHandover, toWebchatMessage, toWebchatParticipant, toWebchatUser } from '../../models/webchat.ts'
import type { Context } from '../../context.ts'
import type { ConversationRow } from '../../models/tables.ts'
import type { Visitor } from '../../rpc/caller.ts'
import { operation } from '../../rpc/operation.ts'
import { readClock } from '../../store/conversation-log.ts'
import { toMeta, toPage } from '../../store/pagination.ts'
import { externalUserIds } from '../../store/users.ts'
import {
  findVisitedConversation,
  listParticipatingUsers,
  listSeenHandovers,
  newestMessages,
} from '../../store/webchat.ts'
import { enter } from './enter.ts'

/** Messages of the first frame: the published web chat reads no older ones; other clients list them. */
const maxMessages = 100

export const initialize = operation({
  name: 'initialize',
  description:
    'Opens a conversation and streams it, as server-sent events. The first, `init`, has the conversation, its newest ' +
    'messages, the `meta.nextToken` of the earlier ones, and the visitor with the key. Without a valid key it creates a visitor, and without a conversation of the visitor’s ' +
    'it creates one.',
  method: 'GET',
  path: '/webchat/{webhookId}/initialize',
  access: 'visitor',
  errors: ['Unauthorized', 'Forbidden'],
  opensStream: true,
  headers: ['x-user-key'],
  input: closedObject({}, { conversationId: { type: 'string' }, 'x-user-key': { type: 'string' } }),
  output: listening,

  async handle(context, { conversationId, 'x-user-key': givenKey }) {
    const { db, config, caller } = context
    const { installation } = caller
    // Read first: a participant who is removed after the look-up below is removed after this time.
    const startedAt = (await readClock(db)).getTime()
    const { user, key, userKey } = await enter(context, givenKey)
    const conversation = await openConversation(context, user.id, conversationId)
    const where = { botId: conversation.bot_id, conversationId: conversation.id }
    const [fetched, participants, handovers] = await Promise.all([
      newestMessages(db, { ...where, until: conversation.clock, limit: maxMessages + 1 }),
      listParticipatingUsers(db, where),
      listSeenHandovers(db, where),
    ])
    const page = toPage(fetched, { limit: maxMessages }, (row) => ({ createdAt: row.created_at, id: row.id }))
    const known = await externalUserIds(
      db,
      page.rows.map((row) => row.user_id),
    )
    const shown = toWebchatUser(user)
    const data = {
      conversation: toConversation(conversation),
      messages: page.rows.map((row) => {
        const ids = { conversationId: conversation.id, userId: known.get(row.user_id) ?? row.user_id }
        return toWebchatMessage(toMessage(row, ids), row.tags)
      }),
      meta: toMeta(page),
      participants: participants.map(toWebchatParticipant),
      handovers: handovers.map(toWebchatHandover),
      user: { ...shown, userKey },
    }
    return {
      botId: conversation.bot_id,
      conversationId: conversation.id,
      externalId: conversation.id,
      userId: user.id,
      webhookId: installation.webhook_id,
      encryptionKeyId: encryptionKeyId(installation, config.secret),
      ...(key.expiresAt !== undefined && { expiresAt: key.expiresAt }),
      startedAt,
      since: conversation.clock.getTime(),
      resumes: true,
      webchat: { user: shown.id, opening: { type: 'init', data } },
    }
  },
})

/**
 * The visitor's conversation of that id, else a new one: the published web chat opens a new conversation by leaving the
 * id out, and cannot read an error here.
 */
async function openConversation(
  context: Context & { caller: Visitor },
  userId: string,
  conversationId: string | undefined,
): Promise<ConversationRow> {
  const { db, caller } = context
  const where = { installationId: caller.installation.id, userId }
  const found =
    (await findVisitedConversation(db, { ...where, conversationId })) ??
    (conversationId === undefined
      ? undefined
      : await findVisitedConversation(db, { ...where, conversationId: undefined }))
  const row = found ?? (await insertChatConversation(context, { ownerId: userId, tags: { 'webchat:owner': userId } }))
  if (!row) throw new ApiError('Internal', 'The conversation was not stored')
  return row
}
