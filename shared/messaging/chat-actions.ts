import { publishEntry } from '../signals/after-commit.ts'
import type { BotContext } from '../rpc/caller.ts'
import { isChat } from '../models/chat-integration.ts'
import { once } from '../rpc/journal.ts'
import { invalidInput, noSuchConversation, type ChatAction } from './action-input.ts'
import { publishStreamSignal } from './message-streams.ts'
import { startTyping, stopTyping } from './typing.ts'
import type { ChatSignal } from '../models/signal.ts'
import { compile } from '../schema.ts'
import { readClock, recordSignal, type LogEntry } from '../store/conversation-log.ts'
import { findConversation } from '../store/conversations.ts'
import type { Database } from '../store/database.ts'

const isSentEvent = compile(
  {
    type: 'object',
    required: ['conversationId', 'payload'],
    properties: { conversationId: { type: 'string' }, payload: { type: 'object' } },
  } as const,
  'body',
)

/**
 * Publishes an event of the bot's own to a conversation's listeners. The log contains it; `getEvent` does not return
 * it.
 */
async function sendEvent(context: BotContext, input: unknown): Promise<Record<string, unknown>> {
  if (!isSentEvent(input)) throw invalidInput('chat:sendEvent', isSentEvent)
  return publishEvent(context, input)
}

/**
 * Publishes an event of the bot, once for a run.
 *
 * @param check throws when the conversation may have no such event
 * @throws ApiError `ReferenceNotFound`
 */
export async function publishEvent(
  context: BotContext,
  input: { conversationId: string; payload: Record<string, unknown> },
  check?: (db: Database) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const { conversationId, payload } = input
  const { botId } = context.caller
  const { entry, signal } = await once(context, input, async (db): Promise<{ entry: LogEntry; signal: ChatSignal }> => {
    await check?.(db)
    const createdAt = (await readClock(db)).toISOString()
    const data = { id: null, createdAt, payload, conversationId, userId: botId, isBot: true }
    const chatSignal: ChatSignal = { type: 'event_created', data }
    const recorded = await recordSignal(db, { botId, conversationId }, chatSignal)
    if (!recorded) throw noSuchConversation(conversationId)
    return { entry: recorded, signal: chatSignal }
  })
  // A replayed result is plain JSON: `at` is a string.
  await publishEntry(context, { ...entry, at: new Date(entry.at) }, signal)
  return {}
}

const isStreamInput = compile(
  {
    type: 'object',
    required: ['conversationId', 'signal'],
    properties: {
      conversationId: { type: 'string' },
      signal: {
        type: 'object',
        discriminator: { propertyName: 'type' },
        required: ['type'],
        oneOf: [
          {
            type: 'object',
            required: ['type', 'streamId', 'createdAt', 'sequence', 'delta'],
            properties: {
              type: { const: 'delta' },
              streamId: { type: 'string', minLength: 1, maxLength: 200 },
              createdAt: { type: 'string', format: 'date-time' },
              clientMessageId: { type: 'string' },
              sequence: { type: 'number' },
              delta: { type: 'string' },
            },
          },
          {
            type: 'object',
            required: ['type', 'streamId'],
            properties: { type: { const: 'abort' }, streamId: { type: 'string', minLength: 1, maxLength: 200 } },
          },
        ],
      },
    },
  } as const,
  'body',
)

/** Publishes the next part of a message stream, or its abort, to a conversation's listeners. */
async function publishMessageStream(context: BotContext, input: unknown): Promise<Record<string, unknown>> {
  if (!isStreamInput(input)) throw invalidInput('chat:publishMessageStream', isStreamInput)
  const { conversationId, signal } = input
  const { botId } = context.caller
  if (!(await findConversation(context.db, botId, conversationId))) throw noSuchConversation(conversationId)
  if (signal.type === 'abort') {
    const data = { streamId: signal.streamId, conversationId }
    await publishStreamSignal(context, conversationId, { type: 'message_stream_abort', data })
    return {}
  }
  const { streamId, clientMessageId, sequence, delta } = signal
  const data = {
    streamId,
    conversationId,
    userId: botId,
    // Clients accept only UTC.
    createdAt: new Date(signal.createdAt).toISOString(),
    ...(clientMessageId !== undefined && { clientMessageId }),
    sequence,
    delta,
  }
  await publishStreamSignal(context, conversationId, { type: 'message_stream_delta', data })
  return {}
}

/** The actions that every bot has through the chat integration, by the names under which bots call them. */
export const chatActions: ReadonlyMap<string, ChatAction> = new Map<string, ChatAction>([
  ['chat:sendEvent', sendEvent],
  ['chat:publishMessageStream', publishMessageStream],
  ['chat:startTypingIndicator', startTyping('chat:startTypingIndicator', isChat)],
  ['chat:stopTypingIndicator', stopTyping('chat:stopTypingIndicator', isChat)],
])
