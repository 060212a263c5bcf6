import { previewOf } from '#shared/models/payload.ts'
import { inOneLine, localTime, styled, table, withoutControlCharacters } from '../output.ts'
import type { ConversationSummary, Message, Transcript } from './read-conversations.ts'

/** Conversations as a table for people. */
export function formatConversations(conversations: readonly ConversationSummary[]): string {
  const rows = conversations.map(({ id, integration, user, message }) => [
    localTime(message.createdAt),
    id,
    integration,
    user?.name ?? user?.id ?? '',
    message.author,
    message.preview.replaceAll(/\s+/g, ' ').slice(0, 60),
  ])
  return table(['LAST MESSAGE', 'ID', 'INTEGRATION', 'USER', 'FROM', ''], rows)
}

/** A conversation with its messages, for people. */
export function formatTranscript({ conversation, messages }: Transcript): string {
  const { id, integration, channel, messageCount } = conversation
  const hidden = messageCount - messages.length
  return [
    `${styled('bold', id)}  ${withoutControlCharacters(`${integration}, ${channel}`)}`,
    ...(hidden > 0 ? [styled('dim', `${hidden} older messages are not shown`)] : []),
    ...messages.map(formatMessage),
  ].join('\n')
}

function formatMessage({ createdAt, author, type, payload, event }: Message): string {
  const name = author.kind === 'bot' ? 'bot' : `${author.kind} ${author.name ?? author.id}`
  const text = payload ? previewOf({ type, payload }) : `(${type}, too large)`
  const failure = event?.status === 'failed' ? styled('red', `  failed: ${event.failureReason ?? event.id}`) : ''
  return `${styled('dim', localTime(createdAt))}  ${styled('bold', inOneLine(name))}: ${withoutControlCharacters(text)}${failure}`
}
