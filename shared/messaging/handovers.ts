import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { toHandover, type Handover } from '../models/handover.ts'
import type { ConversationRow } from '../models/tables.ts'
import { publishEntry, publishOutcome, wakeWorker } from '../signals/after-commit.ts'
import { findAccount } from '../store/accounts.ts'
import type { LogEntry } from '../store/conversation-log.ts'
import { insertParticipant } from '../store/conversations.ts'
import type { Database } from '../store/database.ts'
import { findOrCreate } from '../store/find-or-create.ts'
import { findHandover, findHandoverInProgress, type HandoverEnd } from '../store/handovers.ts'
import { insertUser } from '../store/users.ts'

/** @throws ApiError `ResourceNotFound` when the bot has no such handover */
export async function describeHandover({ db }: Context, botId: string, id: string): Promise<Handover> {
  const row = await findHandover(db, botId, id)
  if (!row) throw noHandover(id)
  return toHandover(row)
}

/** @returns the id. @throws ApiError `ResourceNotFound` when people do not answer in the conversation */
export async function handoverInProgress(db: Database, botId: string, conversationId: string): Promise<string> {
  const row = await findHandoverInProgress(db, botId, conversationId)
  if (!row) throw notFound(`Handover of conversation '${conversationId}'`, 'the bot answers there')
  return row.id
}

export function noHandover(id: string): ApiError {
  return notFound(`Handover '${id}'`)
}

/** Notifies of the end of a handover, after the commit: the bot, and callers who wait for ignored events. */
export async function announceEnd(context: Context, { handover, awaitedEvents }: HandoverEnd): Promise<void> {
  await wakeWorker(context, 'event', handover.conversation_id, handover.bot_id)
  await Promise.all(awaitedEvents.map((id) => publishOutcome(context, id)))
}

/** A member's way into a conversation. */
export interface MemberEntrance {
  /** The member's name. */
  name: string
  /** The author of the member's messages. */
  userId: string
  /** The entry of the log, when the member was not a participant before. */
  entry?: { entry: LogEntry; participantId: string }
}

/**
 * Lets a member write in a conversation. In a built-in chat the member is a participant with a name and a picture; users
 * of other integrations cannot see one, so the messages are the bot's there.
 */
export async function enterAsMember(
  transaction: Database,
  conversation: ConversationRow & { integration_id: string | null },
  accountId: string,
): Promise<MemberEntrance> {
  const account = await findAccount(transaction, accountId)
  if (!account) throw notFound(`Account '${accountId}'`)
  const { bot_id: botId, id: conversationId, installation_id: installationId } = conversation
  const { name } = account
  if (conversation.integration_id !== null) return { name, userId: botId }
  const of = { installation_id: installationId, account_id: account.id }
  const profile = { name: account.name, picture_url: account.picture_url }
  const found = await findOrCreate(transaction, ['member', installationId, account.id], {
    find: (db) => db('member_users').where(of).first('user_id'),
    async create(db) {
      const user = await insertUser(db, { id: newId('user'), botId, installationId, name: account.name })
      if (!user) throw new Error('The inserted user was not returned')
      await db('member_users').insert({ ...of, user_id: user.id })
      return { user_id: user.id }
    },
  })
  const userId = found.row!.user_id
  await transaction('users').where({ id: userId }).update(profile)
  const entry = await insertParticipant(transaction, conversation, userId, addition(conversationId, userId))
  return { name, userId, ...(entry && { entry: { entry, participantId: userId } }) }
}

/** Publishes that a member has entered a conversation, after the commit. */
export async function announceEntrance(context: Context, { entry }: MemberEntrance): Promise<void> {
  if (!entry) return
  await publishEntry(context, entry.entry, addition(entry.entry.conversationId, entry.participantId))
}

function addition(conversationId: string, participantId: string) {
  return { type: 'participant_added', data: { conversationId, participantId } } as const
}
