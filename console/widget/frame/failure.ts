import { ChatError } from '../../../shared/chat-client/chat-error.ts'
import type { WidgetTextName } from '../../../shared/models/webchat-appearance.ts'

/** The reason why a message or a file was not sent. */
export interface Failure {
  /** The type of the platform's error. */
  type?: string
  message: string
}

/** Errors that visitors cause, and whose messages are written for developers. */
const textOfType: Record<string, WidgetTextName> = {
  PayloadTooLarge: 'tooLarge',
  LimitExceeded: 'tooLarge',
  QuotaExceeded: 'noRoom',
  UnsupportedMediaType: 'wrongType',
  EmptyFile: 'emptyFile',
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ChatError) return { type: error.type, message: error.message }
  return { message: error instanceof Error ? error.message : '' }
}

/** The failure in the words of the visitor's language; that of an unknown type, which may come from a bot, in its own. */
export function reasonOf({ type = '', message }: Failure, text: (name: WidgetTextName) => string): string {
  const name = textOfType[type]
  return name === undefined ? message : text(name)
}
