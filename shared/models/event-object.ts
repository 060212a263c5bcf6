import { closedObject } from '../schema.ts'
import { tags } from './tags.ts'

/** A JSON object of any shape, which code sets. */
const kept = (description: string) => ({ type: 'object', description }) as const

/** The state that bot code reads and writes as `event.state`. */
const eventState = closedObject({
  bot: kept('Of the bot, whoever it talks to.'),
  user: kept('Of the user, in whichever conversation.'),
  conversation: kept('Of the conversation.'),
  session: kept('Of the conversation; forgotten when it has been quiet for 30 minutes.'),
  temp: kept('Of this event; forgotten when it has been handled.'),
})

/**
 * The `event` argument of bot code (product specification, part 6), as JSON: in the isolate, `createdOn` is a `Date`.
 * The types for authors are generated from it.
 */
export const eventObject = closedObject(
  {
    id: { type: 'string', description: 'The same when the event is handled again: good as an idempotency key.' },
    botId: { type: 'string' },
    createdOn: { type: 'string', format: 'date-time' },
    direction: {
      enum: ['incoming', 'outgoing'],
      description: 'From the user to the bot, or from the bot to the user.',
    },
    type: { type: 'string', description: '`message_created` for messages.' },
    payload: { type: 'object', description: 'What happened; of a message its `type`, and what it says.' },
    preview: { type: 'string', description: 'Its plain text; for a text message, the text itself.' },
    state: eventState,
    tags: closedObject({}, { conversation: tags, message: tags, user: tags }),
  },
  {
    conversationId: { type: 'string' },
    userId: { type: 'string' },
    messageId: { type: 'string' },
    integration: { type: 'string', description: 'The name of the integration on which it happened.' },
  },
)
