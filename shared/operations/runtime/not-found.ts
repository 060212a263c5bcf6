import { ApiError, notFound } from '../../errors.ts'

/** What is not there, or not for the caller: the answer does not tell which. */
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
