import { anthropicMessages } from './anthropic-messages.ts'
import { chatCompletions } from './chat-completions.ts'
import type { LibraryWire } from './library-wire.ts'

/** The languages of other APIs, by the operation that answers in them. */
// A language reads the bodies of its own operation.
// oxlint-disable-next-line typescript/no-explicit-any
export const libraryWires: Readonly<Record<string, LibraryWire<any>>> = {
  createChatCompletion: chatCompletions,
  createAnthropicMessage: anthropicMessages,
}
