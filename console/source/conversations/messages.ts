import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'

export type TranscriptPage = AnswerOf<'listBotConversationMessages'>
export type TranscriptMessage = TranscriptPage['messages'][number]

/** The messages of a transcript that are loaded, newest first and without gaps, and the token of those before them. */
export interface LoadedMessages {
  messages: TranscriptMessage[]
  nextToken?: string | undefined
}

/**
 * Adds the newest page, which replaces what it shows again: messages change and are deleted. Where so many messages came
 * that the page does not reach the loaded ones, these are dropped, because the transcript would have a gap.
 */
export function withNewest(loaded: LoadedMessages, { messages, meta }: TranscriptPage): LoadedMessages {
  const ids = new Set(messages.map(({ id }) => id))
  const oldest = messages.at(-1)
  const reaches = loaded.messages.some(({ id }) => ids.has(id))
  if (!oldest || !reaches || meta.nextToken === undefined) return { messages, nextToken: meta.nextToken }
  const before = loaded.messages.filter((message) => !ids.has(message.id) && isBefore(message, oldest))
  return before.length === 0
    ? { messages, nextToken: meta.nextToken }
    : { messages: [...messages, ...before], nextToken: loaded.nextToken }
}

/** Adds the page before the oldest loaded message. */
export function withOlder(loaded: LoadedMessages, { messages, meta }: TranscriptPage): LoadedMessages {
  const ids = new Set(loaded.messages.map(({ id }) => id))
  const added = messages.filter(({ id }) => !ids.has(id))
  return { messages: [...loaded.messages, ...added], nextToken: meta.nextToken }
}

export interface Moment {
  id: string
  createdAt: string
}

/** ISO times of equal length and ids are in the order of their texts. */
export function isBefore(one: Moment, other: Moment): boolean {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt
  return one.id < other.id
}
