import { closedObject, type Infer } from '../schema.ts'
import { chatConfiguration } from './chat-configuration.ts'
import {
  integration,
  integrationSummary,
  toIntegration,
  toIntegrationSummary,
  type IntegrationListing,
} from './integration.ts'
import { chatPayload } from './payload.ts'

/**
 * The chat, as look-ups of public integrations know it. Published clients write the id of an integration into projects and
 * look for it there, so the ids never change. Clients that do not know the version 1 ask for 0.7.6, with the same content.
 */
const versions = [
  { version: '1.0.0', id: 'intver_01J0000000000000000CHAT100' },
  { version: '0.7.6', id: 'intver_01J0000000000000000CHAT076' },
] as const

/** The name of the platform's own integration, which is installed on every bot. */
export const builtInIntegration = 'chat'
/** The version that a bot's installation of the chat has. */
export const builtInVersion = versions[0]

/** Whether an id is that of a version of the chat. */
export function isChatIntegration(id: string): boolean {
  return versions.some((version) => version.id === id)
}

const owner = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'handle', 'name'],
  properties: { id: { type: 'string' }, handle: { type: 'string', nullable: true }, name: { type: 'string' } },
} as const
const counts = closedObject({ installs: { type: 'integer' }, views: { type: 'integer' } })
const ofHub = { ownerWorkspace: owner, meta: counts } as const

/** A public integration. */
export const publicIntegration = {
  ...integration,
  required: [...integration.required, 'ownerWorkspace', 'meta'],
  properties: { ...integration.properties, ...ofHub },
} as const

/** A public integration, as lists show it. */
export const publicIntegrationSummary = {
  ...integrationSummary,
  required: [...integrationSummary.required, 'ownerWorkspace', 'meta'],
  properties: { ...integrationSummary.properties, ...ofHub },
} as const

const presentation = {
  // The workspace of the platform itself, which has no members.
  ownerWorkspace: { id: '11111111-1111-1111-aaaa-111111111111', handle: null, name: 'Isobot' },
  meta: { installs: 0, views: 0 },
}

const text = { type: 'string' } as const
const object = { type: 'object' } as const
const tags = (...names: string[]) => Object.fromEntries(names.map((name) => [name, {}]))
const inConversation = (fields: object) => ({
  schema: {
    type: 'object',
    properties: { conversationId: text, ...fields },
    required: ['conversationId', ...Object.keys(fields)],
  },
})
const nothing = { schema: { type: 'object', properties: {} } }

/** The payload of a message without its type, which stands beside it in a definition. */
function withoutType({ properties, required }: (typeof chatPayload.oneOf)[number]) {
  const others = Object.entries(properties).filter(([name]) => name !== 'type')
  const needed = required.filter((name) => name !== 'type')
  return { schema: { type: 'object', properties: Object.fromEntries(others), required: needed } }
}

const definition = {
  title: 'Chat',
  description: 'The chat of the platform, over HTTP.',
  visibility: 'public',
  configuration: { schema: chatConfiguration },
  channels: {
    channel: {
      messages: Object.fromEntries(
        chatPayload.oneOf.map((variant) => [variant.properties.type.const, withoutType(variant)]),
      ),
      conversation: { tags: tags('owner', 'fid') },
      message: { tags: tags('fid') },
    },
  },
  user: { tags: tags('fid', 'profile') },
  events: { custom: { schema: inConversation({ userId: text, payload: object }).schema } },
  actions: {
    sendEvent: { input: inConversation({ payload: object }), output: nothing },
    publishMessageStream: { input: inConversation({ signal: object }), output: nothing },
  },
}

const created = new Date('2026-11-23')

function rowOf({ id, version }: (typeof versions)[number]): IntegrationListing {
  return { id, name: builtInIntegration, version, definition, created_at: created, updated_at: created }
}

/** The versions of the chat, the newest first. */
export function listChatVersions(): Infer<typeof publicIntegrationSummary>[] {
  return versions.map((version) => ({ ...toIntegrationSummary(rowOf(version)), ...presentation }))
}

/** A version of the chat in full. */
export function describeChat(id: string): Infer<typeof publicIntegration> | undefined {
  const version = versions.find((one) => one.id === id)
  if (!version) return undefined
  return { ...toIntegration({ ...rowOf(version), permissions: {} }, []), ...presentation }
}
