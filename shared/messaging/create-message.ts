import { publishHint, publishEntry, wakeWorker } from '../signals/after-commit.ts'
import type { BotContext } from '../rpc/caller.ts'
import { ApiError } from '../errors.ts'
import { newId } from '../ids.ts'
import { completeStream } from './message-streams.ts'
import { messageCreated } from '../models/event.ts'
import { toMessage } from '../models/message.ts'
import { chatPayload, isRecord, toChatPayload, type MessageContent } from '../models/payload.ts'
import { toStoredTags } from '../models/tags.ts'
import { compile, describeErrors } from '../schema.ts'
import { toLogEntry } from '../store/conversation-log.ts'
import { findConversation } from '../store/conversations.ts'
import type { Database } from '../store/database.ts'
import type { NewJournalEntry } from '../store/journal.ts'
import { deliveryMailbox, type NewOutgoingMessage, type SaidMessage } from '../store/messages.ts'
import { storeOutgoing } from '../store/message-batches.ts'
import { insertReceivedMessage, type NewReceivedMessage } from '../store/runtime-messages.ts'
import { findRuntimeUser } from '../store/runtime-users.ts'
import type { MessageRow } from '../models/tables.ts'
import { externalUserIds } from '../store/users.ts'

/** A message as operations are given it. Its author is the bot unless somebody else is named. */
export interface GivenMessage extends MessageContent {
  conversationId: string
  userId?: string
  tags?: Record<string, string | null>
  origin?: 'synthetic'
}

/**
 * A message that can be stored: what the bot says, which goes out to whom it talks to, or what an integration has
 * received, which the bot has to handle. Plain JSON, since it may have to wait for its time.
 */
export type ReadyMessage =
  | { direction: 'outgoing'; message: NewOutgoingMessage }
  | { direction: 'incoming'; message: NewReceivedMessage }

/**
 * Makes a message ready to be stored, by who asks for it.
 *
 * @throws ApiError `ReferenceNotFound` when its author is nobody whom the caller may speak for, `InvalidPayload` when
 *   chat clients could not show it
 */
export async function prepareMessage(context: BotContext, given: GivenMessage): Promise<ReadyMessage> {
  const { botId, installation } = context.caller
  const { conversationId, type, tags, origin } = given
  const content = toStoredContent(given.payload)
  const message = {
    id: newId('msg'),
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
  return { direction: 'outgoing', message: { ...message, deliveryId: newId('evt') } }
}

/** The `metadata` that bots put into a payload is stored beside it. */
export function toStoredContent({ metadata, ...payload }: Record<string, unknown>) {
  return { payload, ...(isRecord(metadata) && { metadata }) }
}

/**
 * The author of a message: the bot unless another is named.
 *
 * @throws ApiError `ReferenceNotFound` when it is nobody whom the caller may speak for
 */
export async function findAuthor({ db, caller }: BotContext, userId?: string): Promise<string> {
  const { botId, installation } = caller
  if (userId === undefined && installation) {
    throw new ApiError('InvalidPayload', 'userId is missing: an integration must name the author of a received message')
  }
  if (userId === undefined || userId === botId || (await findRuntimeUser(db, caller, userId))) return userId ?? botId
  throw new ApiError('ReferenceNotFound', `User '${userId}' not found`)
}

const isChatPayload = compile(chatPayload, 'body')

/**
 * Refuses a message that chat clients could not show: it would be lost to the user without a word. Integrations take
 * messages of types of their own.
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
  throw new ApiError('InvalidPayload', `Chat clients cannot show this message: ${problem}`)
}

/**
 * Stores a message, with the event that is to follow from it, in one statement.
 *
 * @param effect the journal's entry for the call that creates it
 * @returns undefined when there is no such conversation for the caller, or when its run is not the newest any more
 */
export async function storeMessage(
  db: Database,
  ready: ReadyMessage,
  effect?: NewJournalEntry,
): Promise<MessageRow | SaidMessage | undefined> {
  return ready.direction === 'incoming'
    ? insertReceivedMessage(db, ready.message, effect)
    : storeOutgoing(db, ready.message, effect)
}

/** Stores a message as above, unless it is for the bot to handle and too much waits for that. */
export async function admitMessage(
  { db, waiting, caller }: BotContext,
  ready: ReadyMessage,
  effect?: NewJournalEntry,
): Promise<MessageRow | SaidMessage | undefined> {
  const store = () => storeMessage(db, ready, effect)
  return ready.direction === 'incoming' ? waiting.admit(db, caller.botId, store) : store()
}

export function noSuchConversation(id: string): ApiError {
  return new ApiError('ReferenceNotFound', `Conversation '${id}' not found`)
}

/**
 * Tells who is concerned of a stored message: the bot of what was received, and of what the bot says either the
 * integration that delivers it or the chat's listeners. A message that was found stored may have been announced before.
 */
export async function announceMessage(context: BotContext, row: MessageRow | SaidMessage): Promise<void> {
  const conversationId = row.conversation_id
  if (row.direction === 'incoming') return wakeWorker(context, 'message', conversationId, row.bot_id)
  if (!('sequence' in row)) await wakeWorker(context, 'message', deliveryMailbox(conversationId), row.bot_id)
  else if (row.has_delivery) return wakeWorker(context, 'message', deliveryMailbox(conversationId), row.bot_id)
  await publishMessage(context, row)
}

async function publishMessage(context: BotContext, row: MessageRow | SaidMessage): Promise<void> {
  const conversationId = row.conversation_id
  const known = row.user_id === context.caller.botId ? undefined : await externalUserIds(context.db, [row.user_id])
  const message = toMessage(row, { conversationId, userId: known?.get(row.user_id) ?? row.user_id })
  const streamId = row.metadata?.['streamId']
  if (typeof streamId === 'string') await completeStream(context, streamId, message)
  // A run that is repeated finds its message stored: whether it was announced is not known.
  if (!('sequence' in row)) return publishHint(context, conversationId)
  await publishEntry(context, toLogEntry(row), { type: 'message_created', data: { ...message, isBot: true } })
}
