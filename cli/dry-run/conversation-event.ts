import type { JsonObject } from '#sandbox/protocol/contract.ts'
import { messageCreated } from '#shared/models/event.ts'
import { exampleId } from '#shared/openapi/example-values.ts'
import type { StateType } from '#shared/models/tables.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'

export interface NewEvent {
  type: string
  payload: JsonObject
  integration?: string
  /** False for an event outside of the conversation, as those of schedules are: it has no user either. */
  conversation?: boolean
}

/**
 * An event of the conversation of a dry run, as a worker claims it.
 *
 * @param ordinal its number in the conversation. The same conversation has the same ids again, by which variants are picked
 * @param states by type and name: `user/state`
 */
export function claimed(
  { type, payload, integration, conversation = true }: NewEvent,
  ordinal: number,
  states: ReadonlyMap<string, JsonObject>,
): ClaimedEvent {
  const isMessage = type === messageCreated
  const { type: messageType, ...content } = payload
  const now = new Date()
  const id = numbered('event', ordinal)
  return {
    id,
    bot_id: exampleId('bot'),
    mailbox: conversation ? exampleId('conversation') : id,
    conversation_id: conversation ? exampleId('conversation') : null,
    user_id: conversation ? exampleId('user') : null,
    message_id: isMessage ? numbered('message', ordinal) : null,
    integration: integration ?? (isMessage ? 'chat' : null),
    type,
    direction: 'incoming',
    payload: isMessage ? {} : payload,
    status: 'pending',
    attempt: 1,
    failures: 0,
    available_at: now,
    created_at: now,
    started_at: now,
    ended_at: null,
    failure_reason: null,
    result: null,
    installation_id: null,
    workflow_id: null,
    runs: null,
    handover_id: null,
    version_id: null,
    disabled_reason: null,
    limits: {},
    keeps_prompts: false,
    url: null,
    secrets: null,
    subscriptions: null,
    message_type: isMessage ? (messageType as string) : null,
    message_payload: isMessage ? content : null,
    message_metadata: null,
    message_tags: null,
    conversation_tags: null,
    user_tags: null,
    states: Array.from(states, ([key, stored]) => {
      const [owner, name = ''] = key.split('/')
      return { type: owner as StateType, name, payload: stored }
    }).filter(({ type: owner }) => conversation || owner === 'bot'),
    more: false,
  }
}

/** An id in the platform's format that ends with a number. */
function numbered(resource: string, ordinal: number): string {
  const end = String(ordinal).padStart(4, '0')
  return `${exampleId(resource).slice(0, -end.length)}${end}`
}
