import { publishHint, publishEntry, wakeWebhook, wakeWorker } from '../signals/after-commit.ts'
import { conversationTopic } from '../signals/signals.ts'
import type { BotContext } from '../rpc/caller.ts'
import { ApiError } from '../errors.ts'
import { newId, timeOfId } from '../ids.ts'
import { announceCopiedMessage } from './inbox-news.ts'
import { completeStream } from './message-streams.ts'
import { isInbox, isWebchat } from '../models/chat-integration.ts'
import { messageCreated } from '../models/event.ts'
import { toMessage } from '../models/message.ts'
import { chatPayload, isRecord, toChatPayload, type MessageContent } from '../models/payload.ts'
import { toStoredTags } from '../models/tags.ts'
import { isWebchatComponent } from '../models/webchat.ts'
import { inStoredOrder } from '../rpc/stored-order.ts'
import { compile, describeErrors } from '../schema.ts'
import { toLogEntry } from '../store/conversation-log.ts'
import { findConversation } from '../store/conversations.ts'
import type { Database } from '../store/database.ts'
import { findUsersOf } from '../store/inbox.ts'
import { isCreatedParticipant } from '../store/webchat.ts'
import type { NewJournalEntry } from '../store/journal.ts'
import { deliveryMailbox, type NewOutgoingMessage, type StoredOutgoingMessage } from '../store/messages.ts'
import { storeOutgoing } from '../store/message-batches.ts'
import { insertReceivedMessage, type NewReceivedMessage } from '../store/runtime-messages.ts'
import { findRuntimeUser } from '../store/runtime-users.ts'
import type { MessageRow } from '../models/tables.ts'
import { externalUserIds } from '../store/users.ts'

/** A message as operations receive it. Without `userId`, its author is the bot. */
export interface MessageInput extends MessageContent {
  conversationId: string
  userId?: string
  tags?: Record<string, string | null>
  origin?: 'synthetic'
}

/**
 * A message that can be stored: an outgoing one of the bot, or an incoming one that an integration has received and the
 * bot handles. Plain JSON, because a scheduled message is stored until its time.
 */
export type ReadyMessage =
  | { direction: 'outgoing'; message: NewOutgoingMessage }
  | { direction: 'incoming'; message: NewReceivedMessage }

/**
 * Prepares a message for storage: as incoming for an integration, as outgoing for the bot.
 *
 * @param id of the message
 * @throws ApiError `ReferenceNotFound` when the caller has no such author, `InvalidPayload` when chat clients could not
 *   show the message
 */
export async function prepareMessage(
  context: BotContext,
  given: MessageInput,
  id = newId('msg'),
): Promise<ReadyMessage> {
  const { botId, installation } = context.caller
  const { conversationId, type, tags, origin } = given
  const content = toStoredContent(given.payload)
  const message = {
    id,
    botId,
    conversationId,
    userId: await findAuthor(context, given.userId),
    type,
    ...content,
    ...(tags && { tags: toStoredTags(context.caller, tags) }),
    ...(origin && { origin }),
  }
  if (installation) {
    const event = { id: newId('evt'), type: messageCreated, integration: installation.integration }
    return { direction: 'incoming', message: { ...message, installationId: installation.id, event } }
  }
  await assertReadable(context, conversationId, { type, payload: content.payload })
  const userId = message.userId === botId ? await findSpeaker(context, conversationId, content.payload) : message.userId
  return { direction: 'outgoing', message: { ...message, userId, deliveryId: newId('evt') } }
}

/** A message that was stored and is deleted since, from the input of the call that created it. */
export function toDeletedMessage({ caller }: BotContext, id: string, given: MessageInput): MessageRow {
  const { botId, installation } = caller
  const { payload, metadata = null } = toStoredContent(given.payload)
  const createdAt = new Date(timeOfId(id))
  return inStoredOrder({
    id,
    bot_id: botId,
    conversation_id: given.conversationId,
    user_id: given.userId ?? botId,
    type: given.type,
    payload,
    metadata,
    tags: toStoredTags(caller, given.tags),
    direction: installation ? 'incoming' : 'outgoing',
    origin: given.origin ?? null,
    created_at: createdAt,
    updated_at: createdAt,
  })
}

/**
 * Lets the statement that stores a message announce it, where signals are notifications of the database. Messages of
 * other authors than the bot, and those that end a stream, need further work before they are announced.
 */
export function announcedByStatement({ caller, signals }: BotContext, ready: ReadyMessage): ReadyMessage {
  if (ready.direction === 'incoming' || !signals.areNotifications) return ready
  const { message } = ready
  if (message.userId !== caller.botId || message.metadata?.['streamId'] !== undefined) return ready
  const { id, conversationId, userId, type, payload, metadata } = message
  // The statement replaces the time.
  const row = { id, type, payload, metadata: metadata ?? null, created_at: new Date(0) }
  const data = { ...toMessage(row, { conversationId, userId }), isBot: true }
  const announcement = {
    channel: conversationTopic(conversationId),
    signal: { type: 'message_created', data },
  } as const
  return { ...ready, message: { ...message, announcement } }
}

/** Separates the `metadata` from a payload, since they are stored in different columns. */
export function toStoredContent({ metadata, ...payload }: Record<string, unknown>) {
  return { payload, ...(isRecord(metadata) && { metadata }) }
}

/**
 * The author of a message: the bot, unless another user is named.
 *
 * @throws ApiError `ReferenceNotFound` when the caller has no such user, `InvalidPayload` when an integration names
 *   none
 */
export async function findAuthor({ db, caller }: BotContext, userId?: string): Promise<string> {
  const { botId, installation } = caller
  if (userId === undefined && installation) {
    throw new ApiError('InvalidPayload', 'userId is missing: an integration must name the author of a received message')
  }
  if (userId === undefined || userId === botId || (await findRuntimeUser(db, caller, userId))) return userId ?? botId
  throw new ApiError('ReferenceNotFound', `User '${userId}' not found`)
}

/**
 * The author of a bot's message: in the inbox and the web chat the user in whose name a plugin writes, elsewhere the bot. In the
 * web chat that is a participant whom the bot has created, so that the bot does not write as a visitor.
 *
 * @throws ApiError `ReferenceNotFound` when the inbox has no such user
 */
async function findSpeaker(
  { db, caller }: BotContext,
  conversationId: string,
  { userId }: Record<string, unknown>,
): Promise<string> {
  const { botId } = caller
  if (typeof userId !== 'string' || userId === botId) return botId
  const conversation = await findConversation(db, botId, conversationId)
  if (!conversation) return botId
  if (isWebchat(conversation)) return (await isCreatedParticipant(db, conversation.id, userId)) ? userId : botId
  if (!isInbox(conversation)) return botId
  const users = await findUsersOf(db, { botId, installationId: conversation.installation_id }, [userId])
  if (!users.has(userId)) throw new ApiError('ReferenceNotFound', `User '${userId}' of the inbox not found`)
  return userId
}

const isChatPayload = compile(chatPayload, 'body')

/**
 * Refuses a message of a chat conversation that chat clients could not show: otherwise it would be lost without an
 * error. Conversations of integrations accept messages of any type.
 *
 * @throws ApiError `InvalidPayload`
 */
export async function assertReadable(
  { db, caller }: BotContext,
  conversationId: string,
  content: MessageContent,
): Promise<void> {
  const payload: unknown = toChatPayload(content)
  if (isChatPayload(payload)) return
  const problem = describeErrors(isChatPayload)
  const conversation = await findConversation(db, caller.botId, conversationId)
  if (conversation?.integration_id !== null) return
  if (isWebchat(conversation) && isWebchatComponent(payload)) return
  throw new ApiError('InvalidPayload', `Chat clients cannot show this message: ${problem}`)
}

/**
 * Stores a message, with the event that follows from it, in one statement.
 *
 * @param effect the journal entry of the call that creates it
 * @returns undefined when the caller has no such conversation, or when a newer run of the event has begun
 */
export async function storeMessage(
  db: Database,
  ready: ReadyMessage,
  effect?: NewJournalEntry,
): Promise<MessageRow | StoredOutgoingMessage | undefined> {
  return ready.direction === 'incoming'
    ? insertReceivedMessage(db, ready.message, effect)
    : storeOutgoing(db, ready.message, effect)
}

/** Stores a message like `storeMessage`; the bot's backlog limit applies to an incoming one. */
export async function admitMessage(
  { db, waiting, caller }: BotContext,
  ready: ReadyMessage,
  effect?: NewJournalEntry,
): Promise<MessageRow | StoredOutgoingMessage | undefined> {
  const store = () => storeMessage(db, ready, effect)
  return ready.direction === 'incoming' ? waiting.admit(db, caller.botId, store) : store()
}

export function noSuchConversation(id: string): ApiError {
  return new ApiError('ReferenceNotFound', `Conversation '${id}' not found`)
}

/**
 * Notifies the recipient of a stored message: the bot of an incoming one; of an outgoing one, the integration that
 * delivers it or the chat's listeners. A message that a repeated call found stored may have been announced before.
 */
export async function announceMessage(context: BotContext, row: MessageRow | StoredOutgoingMessage): Promise<void> {
  const conversationId = row.conversation_id
  if (row.direction === 'incoming') return wakeWorker(context, 'message', conversationId, row.bot_id)
  if (!('sequence' in row)) await wakeWorker(context, 'message', deliveryMailbox(conversationId), row.bot_id)
  else if (row.has_delivery) return wakeWorker(context, 'message', deliveryMailbox(conversationId), row.bot_id)
  await publishMessage(context, row)
}

async function publishMessage(context: BotContext, row: MessageRow | StoredOutgoingMessage): Promise<void> {
  const conversationId = row.conversation_id
  const known = row.user_id === context.caller.botId ? undefined : await externalUserIds(context.db, [row.user_id])
  if (known) await announceCopiedMessage(context, row)
  const message = toMessage(row, { conversationId, userId: known?.get(row.user_id) ?? row.user_id })
  const streamId = row.metadata?.['streamId']
  if (typeof streamId === 'string') await completeStream(context, streamId, message)
  // A repeated run finds its message stored; whether the message was announced is unknown.
  if (!('sequence' in row)) return publishHint(context, conversationId)
  if ('is_announced' in row && row.is_announced) return wakeWebhook(context, toLogEntry(row))
  await publishEntry(context, toLogEntry(row), { type: 'message_created', data: { ...message, isBot: true } })
}
