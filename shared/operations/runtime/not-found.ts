import { ApiError, notFound } from '../../errors.ts'

/**
 * The error for a conversation that does not exist or that the caller may not access, which it does not distinguish.
 */
export function noConversation(id: string): ApiError {
  return notFound(`Conversation '${id}'`)
}

export function noUser(id: string): ApiError {
  return notFound(`User '${id}'`)
}

export function noParticipant(userId: string): ApiError {
  return notFound(`Participant '${userId}'`)
}

export function noMessage(id: string): ApiError {
  return notFound(`Message '${id}'`)
}
