import type { ChatUser } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { ApiError, notFound } from '../../errors.ts'
import { isInternalId } from '../../ids.ts'
import { closedObject, compile, describeErrors } from '../../schema.ts'
import { findConversationByExternalId, type ConversationWithMembership } from '../../store/conversations.ts'
import type { ConversationRow, UserRow } from '../../models/tables.ts'
import { findKeyHolder } from '../../store/users.ts'

/** The schema of external ids, of users and of conversations. */
export const externalId = {
  type: 'string',
  minLength: 1,
  maxLength: 70,
  pattern: '^[a-zA-Z0-9_\\-/\\\\]*$',
  description:
    'An id of your choice: up to 70 letters, digits, _, -, / and \\, but not in the form of the platform’s ids (user_01J…).',
} as const

const isExternalId = compile(externalId, 'body')

/**
 * Checks an external id. An id in the platform's own format could be mistaken for another resource's.
 *
 * @param name of the field in the request
 * @throws ApiError `InvalidPayload`
 */
export function assertExternalId(id: string, name = 'id'): void {
  const chosen: unknown = id
  if (!isExternalId(chosen)) throw new ApiError('InvalidPayload', `${name} ${describeErrors(isExternalId)}`)
  if (!isInternalId(id)) return
  throw new ApiError(
    'InvalidPayload',
    `${name} must not have the form of an id of the platform ('${id}'): choose another`,
  )
}

/** The input that names a user in a conversation, in the path or with the user in the body. */
export const participantInput = closedObject({ conversationId: { type: 'string' }, userId: { type: 'string' } })

type ChatContext = Context & { caller: ChatUser }

/**
 * The user whom the caller's key names.
 * @throws ApiError `ResourceNotFound` when the key is valid and the user does not exist
 */
export async function presentUser({ db, caller }: ChatContext): Promise<UserRow> {
  const user = await findKeyHolder(db, caller.installation.id, caller.key)
  if (user) return user
  throw noSuchUser(caller)
}

export function noSuchUser({ externalId }: ChatUser): ApiError {
  return notFound('User', `the key is valid, but its user '${externalId}' does not exist`)
}

/** A conversation by the id that the client uses; undefined when the installation has none. */
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
 * A conversation in which the caller is a participant.
 * @throws ApiError `Forbidden` when the caller is not a participant, and likewise when there is no such conversation
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
 * The error for a conversation that the caller may not access. It is the same whether the conversation exists or not,
 * so that it does not disclose this; it differs only when the caller no longer exists.
 *
 * @throws ApiError `ResourceNotFound` when the caller's user does not exist
 */
export async function notParticipating(context: ChatContext): Promise<ApiError> {
  await presentUser(context)
  return new ApiError('Forbidden', 'You are not a participant of this conversation')
}
