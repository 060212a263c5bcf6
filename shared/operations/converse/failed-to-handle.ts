import { ApiError } from '../../errors.ts'
import type { Conversed } from '../../messaging/converse.ts'

/**
 * The error of a message that the bot has failed to handle, with the messages that it has sent before.
 *
 * @param reason for callers who may know it
 */
export function failedToHandle({ event, responses }: Conversed, reason?: string | null): ApiError {
  return new ApiError('Runtime', `The bot has failed to handle the message${reason ? `: ${reason}` : ''}`, {
    metadata: { eventId: event.id, responses },
  })
}
