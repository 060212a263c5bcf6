import type { JsonObject } from '#sandbox/protocol/contract.ts'
import { messageCreated } from '#shared/models/event.ts'
import { isRecord, previewOf } from '#shared/models/payload.ts'
import { exampleId } from '#shared/openapi/example-values.ts'

/** Ids of a message's event where the given fields have none. */
const ofMessages = {
  conversationId: exampleId('conversation'),
  userId: exampleId('user'),
  messageId: exampleId('message'),
  integration: 'chat',
}

/**
 * The `event` object of a dry run, made from the output of `isobot events BOT show ID --json`, from an event that code
 * has logged, or from a few fields. Without a type it is a message.
 */
export function toDryRunEvent(recorded: Record<string, unknown>): JsonObject {
  const given = isRecord(recorded['event']) ? recorded['event'] : recorded
  const message = isRecord(given['message']) ? given['message'] : undefined
  const type = typeof given['type'] === 'string' ? given['type'] : messageCreated
  const payload = payloadOf(given, message)
  const isMessage = type === messageCreated
  const contentType = isMessage && typeof payload['type'] === 'string' ? payload['type'] : type
  const kept = isRecord(given['state']) ? given['state'] : {}
  const optional = pick(given, ['conversationId', 'userId', 'messageId', 'integration'])
  return {
    id: exampleId('event'),
    botId: exampleId('bot'),
    direction: 'incoming',
    ...pick(given, ['id', 'botId', 'direction']),
    createdOn: given['createdOn'] ?? given['createdAt'] ?? new Date().toISOString(),
    type,
    payload,
    preview: given['preview'] ?? previewOf({ type: contentType, payload }),
    tags: given['tags'] ?? {},
    ...(isMessage && ofMessages),
    ...optional,
    state: { bot: {}, user: {}, conversation: {}, session: {}, ...kept, temp: {} },
  } as unknown as JsonObject
}

/** A stored message has its type beside its payload; the event of a message has it within. */
function payloadOf(given: Record<string, unknown>, message: Record<string, unknown> | undefined): JsonObject {
  if (message && isRecord(message['payload'])) return { type: message['type'], ...message['payload'] } as JsonObject
  if (isRecord(given['payload'])) return given['payload'] as JsonObject
  return { type: 'text', text: typeof given['preview'] === 'string' ? given['preview'] : 'Hello' }
}

function pick(from: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([name, value]) => names.includes(name) && value !== null))
}
