import { ApiError } from '../../errors.ts'

/** What is not there, or not for the caller: the answer does not tell which. */
export function noConversation(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no conversation '${id}'`)
}

export function noUser(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no user '${id}'`)
}

export function noParticipant(userId: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no user '${userId}' in this conversation`)
}

export function noMessage(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no message '${id}'`)
}
