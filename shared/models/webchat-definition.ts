import { chatMessages } from './chat-messages.ts'
import { webchatConfiguration } from './webchat-configuration.ts'

const text = { type: 'string' } as const
const object = { type: 'object', additionalProperties: true } as const
const schemaOf = (properties: object, optional: string[] = []) => ({
  schema: {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  },
})
const nothing = schemaOf({})
const inConversation = { input: schemaOf({ conversationId: text }), output: nothing }
const typing = {
  input: schemaOf({ conversationId: text, messageId: text, timeout: { type: 'number' } }, ['messageId', 'timeout']),
  output: nothing,
}

/** The declarations of the web chat, by which published tools generate the types of a bot. */
export const webchatDefinition = {
  title: 'Web chat',
  description: 'The chat for web pages, for the published web chat and others of its protocol.',
  visibility: 'public',
  configuration: { schema: webchatConfiguration },
  channels: {
    channel: {
      messages: {
        ...chatMessages,
        custom: schemaOf({ url: text, name: text, data: {} }, ['data']),
      },
      conversation: { tags: { owner: {}, started: {} } },
      message: { tags: { feedback: {}, feedbackComment: {} } },
    },
  },
  user: { tags: { userData: {}, email: {} } },
  events: {
    conversationStarted: schemaOf({ userId: text, conversationId: text }),
    trigger: schemaOf({ origin: { enum: ['website'] }, userId: text, conversationId: text, payload: object }),
  },
  actions: {
    getUserData: { input: schemaOf({ userId: text }), output: schemaOf({ userData: object }) },
    getOrCreateUser: {
      input: schemaOf(
        { name: text, pictureUrl: text, email: text, user: schemaOf({ id: text, conversationId: text }).schema },
        ['name', 'pictureUrl', 'email'],
      ),
      output: schemaOf({ userId: text }),
    },
    showWebchat: inConversation,
    hideWebchat: inConversation,
    toggleWebchat: inConversation,
    configWebchat: { input: schemaOf({ conversationId: text, config: text }), output: nothing },
    customEvent: { input: schemaOf({ conversationId: text, event: text }), output: nothing },
    startTypingIndicator: typing,
    stopTypingIndicator: typing,
  },
}
