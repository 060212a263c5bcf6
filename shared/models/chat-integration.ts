import { closedObject, type Infer } from '../schema.ts'
import { chatConfiguration } from './chat-configuration.ts'
import {
  integration,
  integrationSummary,
  toIntegration,
  toIntegrationSummary,
  type IntegrationListing,
} from './integration.ts'
import type { InstallationRow } from './tables.ts'
import { chatMessages } from './chat-messages.ts'
import { inboxDefinition } from './inbox-definition.ts'
import { webchatDefinition } from './webchat-definition.ts'

/** The name of the platform's own integration that is installed on every bot. */
export const builtInIntegration = 'chat'
/** The name of the platform's own integration for web pages. */
export const webchatIntegration = 'webchat'
/** The tag of a user of the web chat whom the bot has created, such as a person who answers in its place. */
export const givenIdTag = `${webchatIntegration}:userId`
/** The name of the platform's own integration in which members answer for plugins. */
export const inboxIntegration = 'inbox'

/**
 * The built-in integrations, as look-ups of public integrations know them, the newest versions first. Published clients
 * write the id of an integration into projects and look for it there, so the ids never change. Clients that do not know the
 * version 1 of the chat ask for 0.7.6, with the same content. Published projects ask for the web chat 0.3.0.
 */
const versions = [
  { name: builtInIntegration, version: '1.0.0', id: 'intver_01J0000000000000000CHAT100' },
  { name: builtInIntegration, version: '0.7.6', id: 'intver_01J0000000000000000CHAT076' },
  { name: webchatIntegration, version: '0.3.0', id: 'intver_01J0000000000000WEBCHAT030' },
  { name: inboxIntegration, version: '1.0.0', id: 'intver_01J000000000000000INBOX100' },
] as const

/** The name of a built-in integration. */
export type BuiltIn = (typeof versions)[number]['name']

/** The built-in integration that an id names, by a version; undefined for other ids. */
export function builtInOf(id: string): BuiltIn | undefined {
  return versions.find((version) => version.id === id)?.name
}

/** Whether a name is reserved for a built-in integration. */
export function isBuiltInName(name: string): name is BuiltIn {
  return versions.some((version) => version.name === name)
}

/** The version that an installation of a built-in integration has. */
export function builtInVersion(name: string): { version: string; id: string } {
  const { version, id } = versions.find((one) => one.name === name) ?? versions[0]
  return { version, id }
}

/** Whether an installation is that of the web chat, and not of an integration of a workspace with the same name. */
export function isWebchat({
  integration,
  integration_id: id,
}: Pick<InstallationRow, 'integration' | 'integration_id'>) {
  return id === null && integration === webchatIntegration
}

/** Whether an installation is that of the inbox. */
export function isInbox({ integration, integration_id: id }: Pick<InstallationRow, 'integration' | 'integration_id'>) {
  return id === null && integration === inboxIntegration
}

/** Whether an installation is that of the chat, which every bot has. */
export function isChat({ integration, integration_id: id }: Pick<InstallationRow, 'integration' | 'integration_id'>) {
  return id === null && integration === builtInIntegration
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

const typing = {
  input: {
    schema: {
      type: 'object',
      properties: { conversationId: text, messageId: text, timeout: { type: 'number' } },
      required: ['conversationId'],
    },
  },
  output: nothing,
}

const chatDefinition = {
  title: 'Chat',
  description: 'The chat of the platform, over HTTP.',
  visibility: 'public',
  configuration: { schema: chatConfiguration },
  channels: {
    channel: {
      messages: chatMessages,
      conversation: { tags: tags('owner', 'fid') },
      message: { tags: tags('fid') },
    },
  },
  user: { tags: tags('fid', 'profile') },
  events: { custom: { schema: inConversation({ userId: text, payload: object }).schema } },
  actions: {
    sendEvent: { input: inConversation({ payload: object }), output: nothing },
    publishMessageStream: { input: inConversation({ signal: object }), output: nothing },
    startTypingIndicator: typing,
    stopTypingIndicator: typing,
  },
}

const created = new Date('2026-11-23')

/** The definitions of the built-in integrations. */
export const builtInDefinitions: Record<BuiltIn, IntegrationListing['definition']> = {
  [builtInIntegration]: chatDefinition,
  [webchatIntegration]: webchatDefinition,
  [inboxIntegration]: inboxDefinition,
}

function rowOf({ id, name, version }: (typeof versions)[number]): IntegrationListing {
  return { id, name, version, definition: builtInDefinitions[name], created_at: created, updated_at: created }
}

/** The versions of the built-in integrations, the newest first. */
export function listBuiltInVersions(): Infer<typeof publicIntegrationSummary>[] {
  return versions.map((version) => ({ ...toIntegrationSummary(rowOf(version)), ...presentation }))
}

/** A version of a built-in integration in full. */
export function describeBuiltIn(id: string): Infer<typeof publicIntegration> | undefined {
  const version = versions.find((one) => one.id === id)
  if (!version) return undefined
  return { ...toIntegration({ ...rowOf(version), permissions: {} }, []), ...presentation }
}
