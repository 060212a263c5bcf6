import type { ChatUser } from '../../caller.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { findKnownConversation, type MetConversation } from '../../store/conversations.ts'
import type { ConversationRow, UserRow } from '../../store/tables.ts'
import { findKnownUser } from '../../store/users.ts'

/** The rule for ids that a client chooses, of users and of conversations alike. */
export const foreignId = {
  type: 'string',
  minLength: 1,
  maxLength: 70,
  pattern: '^[a-zA-Z0-9_\\-/\\\\]*$',
  description: 'An id of your own choice: up to 70 letters, digits, _, -, / and \\.',
} as const

/** The input that names a user in a conversation, in the path or with the user in the body. */
export const participantInput = {
  type: 'object',
  additionalProperties: false,
  required: ['conversationId', 'userId'],
  properties: { conversationId: { type: 'string' }, userId: { type: 'string' } },
} as const

type ChatContext = Context & { caller: ChatUser }

/**
 * The user whose key it is.
 * @throws ApiError `ResourceNotFound` when the key is valid and there is no such user (any more)
 */
export async function presentUser({ db, caller }: ChatContext): Promise<UserRow> {
  const user = await findKnownUser(db, caller.installation.id, caller.knownId)
  if (user) return user
  throw noSuchUser(caller)
}

export function noSuchUser({ knownId }: ChatUser): ApiError {
  return new ApiError('ResourceNotFound', `The key is valid, but there is no user '${knownId}' (any more)`)
}

/** A conversation by the id the client knows it by; undefined when the installation has none. */
export async function meetConversation(
  { db, caller }: ChatContext,
  knownId: string,
): Promise<MetConversation | undefined> {
  return findKnownConversation(db, {
    installationId: caller.installation.id,
    knownConversationId: knownId,
    knownUserId: caller.knownId,
  })
}

/**
 * A conversation that the caller takes part in.
 * @throws ApiError `Forbidden` when the caller does not, and likewise when there is no such conversation
 */
export async function joinedConversation(
  context: ChatContext,
  knownId: string,
): Promise<MetConversation & { participant_id: string }> {
  const conversation = await meetConversation(context, knownId)
  if (!conversation?.participant_id) throw notParticipating()
  return { ...conversation, participant_id: conversation.participant_id }
}

/**
 * A conversation that the caller owns.
 * @throws ApiError `ResourceNotFound` when there is none, `Forbidden` when it is another user's
 */
export async function ownConversation(context: ChatContext, knownId: string): Promise<ConversationRow> {
  const conversation = await meetConversation(context, knownId)
  if (!conversation) throw new ApiError('ResourceNotFound', `There is no conversation '${knownId}'`)
  if (conversation.owner_id !== null && conversation.owner_id === conversation.participant_id) return conversation
  throw new ApiError('Forbidden', 'This is for the owner of the conversation')
}

export function noSuchParticipant(knownId: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no user '${knownId}' in this conversation`)
}

/** One answer for both cases, so that it does not tell which conversations exist. */
export function notParticipating(): ApiError {
  return new ApiError('Forbidden', 'You take no part in this conversation')
}
