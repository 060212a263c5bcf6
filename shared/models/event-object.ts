import { closedObject } from '../schema.ts'
import { tags } from './tags.ts'

/** A JSON object of any shape, which code sets. */
const kept = (description: string) => ({ type: 'object', description }) as const

/** The state that bot code reads and writes as `event.state`. */
const eventState = closedObject(
  {
    bot: kept('State of the bot, for all users and conversations.'),
    user: kept('State of the user, for all conversations.'),
    conversation: kept('State of the conversation.'),
    session: kept('State of the conversation; expires after 30 minutes without an event.'),
    temp: kept('State of this event; deleted after its handling.'),
  },
  {
    context: closedObject(
      {},
      Object.fromEntries(
        ['currentFlow', 'currentNode', 'currentCard', 'previousFlow', 'previousNode'].map((name) => [
          name,
          { type: 'string' },
        ]),
      ),
    ),
  },
)

/**
 * The `event` argument of bot code (product specification, part 6), as JSON: in the isolate, `createdOn` is a `Date`.
 * The types for authors are generated from it.
 */
export const eventObject = closedObject(
  {
    id: {
      type: 'string',
      description: 'Stays the same when the event is handled again; serves as an idempotency key.',
    },
    botId: { type: 'string' },
    createdOn: { type: 'string', format: 'date-time' },
    direction: {
      enum: ['incoming', 'outgoing'],
      description: 'From the user to the bot, or from the bot to the user.',
    },
    type: { type: 'string', description: '`message_created` for messages.' },
    payload: { type: 'object', description: 'The event’s data; for a message, its `type` and its content.' },
    preview: { type: 'string', description: 'The plain text of the payload; for a text message, its text.' },
    state: eventState,
    tags: closedObject({}, { conversation: tags, message: tags, user: tags }),
  },
  {
    conversationId: { type: 'string' },
    userId: { type: 'string' },
    messageId: { type: 'string' },
    integration: { type: 'string', description: 'The name of the integration that the event came through.' },
    kb: closedObject(
      { included: { type: 'array', items: { type: 'object' }, description: 'The knowledge bases of the search.' } },
      { results: { type: 'array', items: { type: 'object' }, description: 'The passages that it found.' } },
    ),
    trigger: closedObject(
      { flowId: { type: 'string' }, nodeId: { type: 'string' }, eventName: { type: 'string' } },
      { integration: { type: 'string' }, conversationId: { type: 'string' }, userId: { type: 'string' } },
    ),
  },
)
