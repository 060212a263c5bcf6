import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { isInbox } from '../models/chat-integration.ts'
import { inboxAssigned } from '../models/event.ts'
import { toHandover, type Handover, type HandoverView } from '../models/handover.ts'
import { publishHandover, publishOutcome, wakeWorker } from '../signals/after-commit.ts'
import { findAccount } from '../store/accounts.ts'
import { announceHandover } from './inbox-news.ts'
import { enter, publishEntrance, type Entrance } from './participants.ts'
import type { FoundConversation } from '../store/conversations.ts'
import type { Database } from '../store/database.ts'
import { insertConversationEvent } from '../store/events.ts'
import { findOrCreate } from '../store/find-or-create.ts'
import { findHandover, findHandoverInProgress } from '../store/find-handovers.ts'
import { beginHandover, lockConversation, type HandoverEnd, type NewHandover } from '../store/handovers.ts'
import { insertUser } from '../store/users.ts'

/** @throws ApiError `ResourceNotFound` when the bot has no such handover */
export async function describeHandover({ db }: Context, botId: string, id: string): Promise<Handover> {
  const row = await findHandover(db, botId, id)
  if (!row) throw noHandover(id)
  return toHandover(row)
}

/**
 * Begins a handover of a conversation, in a transaction. One that is handed over already keeps its handover, and plugins
 * alone begin those of the inbox.
 *
 * @returns undefined when the bot has no such conversation
 * @throws ApiError `RelationConflict` when the handover of a conversation of the inbox has ended
 */
export async function beginOrJoin(
  transaction: Database,
  conversation: FoundConversation,
  given: NewHandover,
): Promise<{ id: string; isNew: boolean } | undefined> {
  if (!isInbox(conversation)) return beginHandover(transaction, given)
  const { botId, conversationId } = given
  await lockConversation(transaction, botId, conversationId)
  const found = await findHandoverInProgress(transaction, botId, conversationId)
  if (found) return { id: found.id, isNew: false }
  throw new ApiError('RelationConflict', 'The handover of this conversation of the inbox has ended')
}

/** @returns the id. @throws ApiError `ResourceNotFound` when people do not answer in the conversation */
export async function handoverInProgress(db: Database, botId: string, conversationId: string): Promise<string> {
  const row = await findHandoverInProgress(db, botId, conversationId)
  if (!row) throw notFound(`Handover of conversation '${conversationId}'`, 'the bot answers there')
  return row.id
}

/** The error for a handover that a member can neither take nor end. */
export function handoverConflict({ id, is_beginning: isBeginning }: HandoverView): ApiError {
  const reason = isBeginning ? 'is being prepared by the bot: try again in a moment' : 'has ended'
  return new ApiError('RelationConflict', `Handover '${id}' ${reason}`)
}

export function noHandover(id: string): ApiError {
  return notFound(`Handover '${id}'`)
}

/** Notifies of the end of a handover, after the commit: the bot, its web chat, inboxes, and callers who wait for ignored events. */
export async function announceEnd(context: Context, { handover, awaitedEvents }: HandoverEnd): Promise<void> {
  const { id, bot_id: botId, conversation_id: conversationId } = handover
  await wakeWorker(context, 'event', conversationId, botId)
  await publishHandover(context, conversationId, id)
  await announceHandover(context, id, 'ended')
  await Promise.all(awaitedEvents.map((id) => publishOutcome(context, id)))
}

/** A member's way into a conversation. */
export interface MemberEntrance {
  /** The member's name. */
  name: string
  /** The author of the member's messages. */
  userId: string
  /** The event by which a plugin of the bot learns of the member. */
  event?: { conversationId: string; botId: string }
  /** Undefined when the member was a participant before, or cannot be one. */
  entrance?: Entrance | undefined
}

/**
 * Lets a member write in a conversation. In a built-in chat the member is a participant with a name and a picture; users
 * of other integrations cannot see one, so the messages are the bot's there.
 */
export async function enterAsMember(
  transaction: Database,
  conversation: FoundConversation,
  accountId: string,
): Promise<MemberEntrance> {
  const account = await findAccount(transaction, accountId)
  if (!account) throw notFound(`Account '${accountId}'`)
  const { bot_id: botId, installation_id: installationId } = conversation
  const { name } = account
  if (conversation.integration_id !== null) return { name, userId: botId }
  const of = { installation_id: installationId, account_id: account.id }
  const nameForUsers = withoutDomain(name)
  const profile = { name: nameForUsers, picture_url: account.picture_url }
  const found = await findOrCreate(transaction, ['member', installationId, account.id], {
    find: (db) => db('member_users').where(of).first('user_id'),
    async create(db) {
      const user = await insertUser(db, { id: newId('user'), botId, installationId, name: nameForUsers })
      if (!user) throw new Error('The inserted user was not returned')
      await db('member_users').insert({ ...of, user_id: user.id })
      return { user_id: user.id }
    },
  })
  const userId = found.row!.user_id
  await transaction('users').where({ id: userId }).update(profile)
  const entrance = await enter(transaction, conversation, { id: userId, foreign_id: null })
  return { name, userId, entrance }
}

/** The name of a member as users see it: an account without a name has its email address, which is not for strangers. */
function withoutDomain(name: string): string {
  return name.replace(/(?<=\S)@\S*$/, '')
}

/** Lets a member write who begins to answer. In a conversation of the inbox the bot receives an event with the member's user. */
export async function beginAnswering(
  transaction: Database,
  conversation: FoundConversation,
  accountId: string,
): Promise<MemberEntrance> {
  const entrance = await enterAsMember(transaction, conversation, accountId)
  if (!isInbox(conversation)) return entrance
  const { bot_id: botId, id: conversationId, integration } = conversation
  const { userId } = entrance
  const payload = { conversationId, userId }
  const event = { id: newId('evt'), botId, conversationId, userId, integration, type: inboxAssigned, payload }
  await insertConversationEvent(transaction, event)
  return { ...entrance, event: { conversationId, botId } }
}

/** Publishes that a member has entered a conversation, after the commit. */
export async function announceEntrance(context: Context, { entrance, event }: MemberEntrance): Promise<void> {
  if (event) await wakeWorker(context, 'event', event.conversationId, event.botId)
  if (entrance) await publishEntrance(context, entrance)
}
