import { chatMessages } from './chat-messages.ts'
import { maxHandoverSeconds } from './handover.ts'
import type { InterfaceRow } from './tables.ts'

/** The name of the interface, and the id that published clients write into projects: it never changes. */
const hitlInterface = { id: 'ifver_01J00000000000000000HT1L210', name: 'hitl', version: '2.1.0' } as const

const text = { type: 'string' } as const
const described = (type: string, description: string, bounds: object = {}) => ({ type, description, ...bounds })
const schemaOf = (properties: object, optional: string[] = []) => ({
  schema: {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  },
})

/** The types of the messages that plugins copy in both directions. */
const relayedTypes = ['text', 'image', 'audio', 'video', 'file', 'bloc'] as const

/** A message of the channel: one of the chat, with the user who has written it. */
function relayed(type: (typeof relayedTypes)[number]) {
  const { schema } = chatMessages[type]!
  const properties = {
    ...(schema.properties as object),
    userId: described('string', 'The user of the inbox who has written it; absent: the bot.'),
    additionalData: described('string', 'Data of the integration that the plugin keeps with the message.', {
      maxLength: 500,
    }),
  }
  return { schema: { ...schema, properties } }
}

const messageHistory = {
  type: 'array',
  description: 'The messages before, the oldest first.',
  items: {
    type: 'object',
    required: ['source', 'type', 'payload'],
    properties: {
      source: {
        anyOf: [
          { type: 'object', required: ['type', 'userId'], properties: { type: { enum: ['user'] }, userId: text } },
          { type: 'object', required: ['type'], properties: { type: { enum: ['bot'] } } },
        ],
      },
      type: text,
      payload: { type: 'object', additionalProperties: true },
    },
  },
}

const ofConversation = schemaOf({ conversationId: text })
const nothing = schemaOf({})

/** The actions and events of `hitl`, as the inbox and the interface declare them. */
const parts = {
  events: {
    hitlAssigned: schemaOf({ conversationId: text, userId: text }),
    hitlStopped: ofConversation,
  },
  actions: {
    createUser: {
      title: 'Create a user',
      description: 'Creates the user as whom a person of another conversation writes.',
      input: schemaOf({ name: text, pictureUrl: text, email: text }, ['pictureUrl', 'email']),
      output: schemaOf({ userId: text }),
    },
    stopHitl: {
      title: 'Stop a session',
      description: 'Ends the handover of a conversation.',
      input: ofConversation,
      output: nothing,
    },
  },
  channels: {
    hitl: { messages: Object.fromEntries(relayedTypes.map((type) => [type, relayed(type)])) },
  },
}

const startHitl = (session: object) => ({
  title: 'Start a session',
  description: 'Begins a handover in a conversation of its own.',
  input: schemaOf({ userId: text, title: text, description: text, hitlSession: session, messageHistory }, [
    'title',
    'description',
    'hitlSession',
  ]),
  output: ofConversation,
})

/** The parameters of a session that the inbox has beyond those of the interface. */
const hitlSession = schemaOf(
  {
    expiresInSeconds: described('integer', 'The time after which the session ends by itself; absent: never.', {
      minimum: 1,
      maximum: maxHandoverSeconds,
    }),
  },
  ['expiresInSeconds'],
)

const sameName = (names: object) => Object.fromEntries(Object.keys(names).map((name) => [name, { name }]))

/** The declarations of the inbox. */
export const inboxDefinition = {
  title: 'Inbox',
  description: 'The inbox of the platform: members answer the conversations that plugins hand over.',
  visibility: 'public',
  configuration: { schema: { type: 'object', properties: {}, additionalProperties: false } },
  entities: { hitlSession: { title: 'Session', description: 'Parameters of a session.', ...hitlSession } },
  interfaces: {
    hitl: {
      ...hitlInterface,
      entities: { hitlSession: { name: 'hitlSession' } },
      actions: sameName({ ...parts.actions, startHitl }),
      events: sameName(parts.events),
      channels: sameName(parts.channels),
    },
  },
  events: parts.events,
  actions: { ...parts.actions, startHitl: startHitl(hitlSession.schema) },
  channels: {
    hitl: { title: 'Handover', ...parts.channels.hitl, conversation: { tags: {} }, message: { tags: {} } },
  },
  user: { tags: { email: {} } },
}

const hitlDefinition = {
  title: 'Human in the loop',
  description: 'Integrations in which people answer in place of a bot.',
  entities: { hitlSession: { title: 'Session', ...schemaOf({}) } },
  ...parts,
  actions: { ...parts.actions, startHitl: startHitl({ $ref: 'hitlSession' }) },
}

/** The interface that the inbox implements, which every workspace can use. */
export const builtInInterface: InterfaceRow = {
  ...hitlInterface,
  // The workspace of the platform itself, which has no members.
  workspace_id: '11111111-1111-1111-aaaa-111111111111',
  visibility: 'public',
  definition: hitlDefinition,
  created_at: new Date('2026-11-24'),
  updated_at: new Date('2026-11-24'),
}
