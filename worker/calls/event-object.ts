import type { JsonObject } from '#sandbox/protocol/contract.ts'
import { previewOf } from '#shared/models/payload.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'

/**
 * The `event` object that bot code receives (product specification, part 6), as JSON. `createdOn` becomes a `Date` when
 * it arrives. Properties that do not apply are absent.
 */
export function toEventObject(event: ClaimedEvent): JsonObject {
  const payload = event.message_type
    ? {
        type: event.message_type,
        ...event.message_payload,
        ...(event.message_metadata && { metadata: event.message_metadata }),
      }
    : event.payload
  const tags = {
    ...(event.conversation_tags && { conversation: event.conversation_tags }),
    ...(event.message_tags && { message: event.message_tags }),
    ...(event.user_tags && { user: event.user_tags }),
  }
  const object = {
    id: event.id,
    botId: event.bot_id,
    createdOn: event.created_at.toISOString(),
    direction: event.direction,
    type: event.type,
    payload,
    preview: event.message_type
      ? previewOf({ type: event.message_type, payload: event.message_payload ?? {} })
      : previewOf({ type: event.type, payload: event.payload }),
    state: initialState(event),
    tags,
    ...(event.conversation_id && { conversationId: event.conversation_id }),
    ...(event.user_id && { userId: event.user_id }),
    ...(event.message_id && { messageId: event.message_id }),
    ...(event.integration && { integration: event.integration }),
  }
  return object as JsonObject
}

/** `event.state` before the first hook. */
export function initialState(event: ClaimedEvent): JsonObject {
  const stored = (type: string, name: string) =>
    (event.states?.find((state) => state.type === type && state.name === name)?.payload ?? {}) as JsonObject
  return {
    bot: stored('bot', 'state'),
    user: stored('user', 'state'),
    conversation: stored('conversation', 'state'),
    session: stored('conversation', 'session'),
    temp: {},
  }
}
