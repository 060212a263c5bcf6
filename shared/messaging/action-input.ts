import { ApiError } from '../errors.ts'
import type { BotContext } from '../rpc/caller.ts'
import { describeErrors } from '../schema.ts'

/** An action of a built-in integration: validates its input and returns its output. */
export type ChatAction = (context: BotContext, input: Record<string, unknown>) => Promise<Record<string, unknown>>

/** The error for the input of an action. */
export function invalidInput(name: string, validate: Parameters<typeof describeErrors>[0]): ApiError {
  return new ApiError('InvalidPayload', `The input of ${name} is invalid: ${describeErrors(validate)}`)
}

/** The error for a conversation that the bot does not have. */
export function noSuchConversation(id: string): ApiError {
  return new ApiError('ReferenceNotFound', `Conversation '${id}' not found`)
}
