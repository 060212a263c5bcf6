import type { ChatUser } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { ApiError, notFound } from '../../errors.ts'
import { hasOurShape } from '../../ids.ts'
import { closedObject, compile, describeErrors } from '../../schema.ts'
import { findConversationByExternalId, type ConversationWithMembership } from '../../store/conversations.ts'
import type { ConversationRow, UserRow } from '../../models/tables.ts'
import { findKeyHolder } from '../../store/users.ts'

/** The rule for ids that a client chooses, of users and of conversations alike. */
export const externalId = {
  type: 'string',
  minLength: 1,
  maxLength: 70,
  pattern: '^[a-zA-Z0-9_\\-/\\\\]*$',
  description:
    'An id of your own choice: up to 70 letters, digits, _, -, / and \\, but none that looks like one of ours (user_01J…).',
} as const

const isExternalId = compile(externalId, 'body')

/**
 * Checks an id that a client chooses. One of our shape would be taken for somebody else's.
 *
 * @param name what the client calls it
 * @throws ApiError `InvalidPayload`
 */
export function assertExternalId(id: string, name = 'id'): void {
  const chosen: unknown = id
  if (!isExternalId(chosen)) throw new ApiError('InvalidPayload', `${name} ${describeErrors(isExternalId)}`)
  if (!hasOurShape(id)) return
  throw new ApiError(
    'InvalidPayload',
    `${name} must not have the form of an id of the platform ('${id}'): choose another`,
  )
}

/** The input that names a user in a conversation, in the path or with the user in the body. */
export const participantInput = closedObject({ conversationId: { type: 'string' }, userId: { type: 'string' } })

type ChatContext = Context & { caller: ChatUser }

/**
 * The user whose key it is.
 * @throws ApiError `ResourceNotFound` when the key is valid and there is no such user (any more)
 */
export async function presentUser({ db, caller }: ChatContext): Promise<UserRow> {
  const user = await findKeyHolder(db, caller.installation.id, caller.key)
  if (user) return user
  throw noSuchUser(caller)
}

export function noSuchUser({ externalId }: ChatUser): ApiError {
  return notFound('User', `the key is valid, but its user '${externalId}' does not exist`)
}

/** A conversation by the id the client knows it by; undefined when the installation has none. */
export async function findConversationWithMembership(
  { db, caller }: ChatContext,
  externalId: string,
): Promise<ConversationWithMembership | undefined> {
  return findConversationByExternalId(db, {
    installationId: caller.installation.id,
    externalConversationId: externalId,
    key: caller.key,
  })
}

/**
 * A conversation that the caller takes part in.
 * @throws ApiError `Forbidden` when the caller does not, and likewise when there is no such conversation
 */
export async function joinedConversation(
  context: ChatContext,
  externalId: string,
): Promise<ConversationWithMembership & { participant_id: string }> {
  const conversation = await findConversationWithMembership(context, externalId)
  if (!conversation?.participant_id) throw await notParticipating(context)
  return { ...conversation, participant_id: conversation.participant_id }
}

/**
 * A conversation that the caller owns.
 * @throws ApiError `ResourceNotFound` when there is none, `Forbidden` when it is another user's
 */
export async function ownConversation(context: ChatContext, externalId: string): Promise<ConversationRow> {
  const conversation = await findConversationWithMembership(context, externalId)
  if (!conversation) throw notFound(`Conversation '${externalId}'`)
  if (conversation.owner_id !== null && conversation.owner_id === conversation.participant_id) return conversation
  if (!conversation.participant_id) await presentUser(context)
  throw new ApiError('Forbidden', 'Only the owner of the conversation may do this')
}

export function noSuchParticipant(externalId: string): ApiError {
  return notFound(`Participant '${externalId}'`)
}

/**
 * Why the caller does not get at a conversation. One answer whether it exists or not, so that it does not tell; another
 * only when the caller is gone.
 *
 * @throws ApiError `ResourceNotFound` when there is no such user (any more)
 */
export async function notParticipating(context: ChatContext): Promise<ApiError> {
  await presentUser(context)
  return new ApiError('Forbidden', 'You are not a participant of this conversation')
}
