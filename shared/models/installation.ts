import type { Infer } from '../schema.ts'
import { sharedEncryptionKey, type PlatformSecret } from '../secrets.ts'
import type { IntegrationRow, Installation } from './tables.ts'
import { chatConfigurationOf, withoutSecrets } from './chat-configuration.ts'
import { builtInDefinitions, builtInVersion, isInbox, isWebchat, type BuiltIn } from './chat-integration.ts'
import { webchatConfigurationOf, webchatWithoutSecrets } from './webchat-configuration.ts'
import { anyObject } from './definition.ts'
import { integrationSummary, toPresentation } from './integration.ts'

/** An installed integration. */
export const installation = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...integrationSummary.required,
    'enabled',
    'webhookId',
    'webhookUrl',
    'configuration',
    'configurationType',
    'disabledChannels',
    'status',
    'statusReason',
  ],
  properties: {
    ...integrationSummary.properties,
    id: { type: 'string', description: 'The id of the integration’s version.' },
    enabled: { type: 'boolean' },
    webhookId: { type: 'string' },
    webhookUrl: {
      type: 'string',
      description: 'The URL of the webhook; for the chat and the web chat, the URL that clients connect to.',
    },
    configuration: {
      ...anyObject,
      description: 'Complete for administrators and owners; without secrets for other roles.',
    },
    configurationType: { type: 'string', nullable: true },
    disabledChannels: { type: 'array', items: { type: 'string' } },
    identifier: {
      type: 'string',
      description: 'Identifies this installation among all installations of the integration.',
    },
    sharedEncryptionKey: {
      type: 'string',
      description:
        'Secret that signs the chat’s user keys while no encryptionKey is configured. Only for administrators and owners.',
    },
    status: {
      enum: [
        'registration_pending',
        'registered',
        'registration_failed',
        'unregistration_pending',
        'unregistered',
        'unregistration_failed',
      ],
    },
    statusReason: { type: 'string', nullable: true },
    disabledReason: {
      type: 'string',
      description: 'Why the platform suspended the integration’s code; absent while it runs.',
    },
  },
} as const

/** The parameters of an installation's representation. */
export interface InstallationView {
  /** The platform's base URL. */
  baseUrl: string
  /** The platform's own secret. */
  secret: PlatformSecret
  /** Whether the viewer may read the secrets of the installations. */
  showsSecrets: boolean
}

/** The integration of an installation. */
type InstalledIntegration = Pick<IntegrationRow, 'id' | 'name' | 'version' | 'definition'> &
  Partial<Pick<IntegrationRow, 'url'>>

/** @param integration the installed integration; absent for a built-in one */
export function toInstallation(
  row: Installation,
  integration: InstalledIntegration | undefined,
  view: InstallationView,
): Infer<typeof installation> {
  return {
    ...toPresentation(integration ?? { name: row.integration, definition: definitionOf(row) }),
    name: row.integration,
    enabled: row.enabled,
    webhookId: row.webhook_id,
    configurationType: row.configuration_type,
    disabledChannels: row.disabled_channels,
    ...(row.identifier !== null && { identifier: row.identifier }),
    status: row.status,
    statusReason: row.status_reason,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(integration
      ? ofIntegration(row, integration, view)
      : isWebchat(row)
        ? ofWebchat(row, view)
        : isInbox(row)
          ? ofInbox(row)
          : ofChat(row, view)),
  }
}

function ofIntegration(
  row: Installation,
  integration: InstalledIntegration,
  { baseUrl, showsSecrets }: InstallationView,
) {
  return {
    id: integration.id,
    // As published command lines expect of one under development.
    version: typeof integration.url === 'string' ? 'dev' : integration.version,
    webhookUrl: `${baseUrl}/webhooks/${row.webhook_id}`,
    // The integration does not declare which fields are secret.
    configuration: showsSecrets ? row.configuration : {},
  }
}

/** Bots have shown the chat without a title always. */
function definitionOf(row: Installation) {
  return isWebchat(row) || isInbox(row) ? builtInDefinitions[row.integration as BuiltIn] : {}
}

/** Nothing is configured, and no service sends anything to it. */
function ofInbox(row: Installation) {
  return { ...builtInVersion(row.integration), webhookUrl: '', configuration: {} }
}

function ofChat(row: Installation, { baseUrl, secret, showsSecrets }: InstallationView) {
  const configuration = chatConfigurationOf(row)
  const showsSharedKey = showsSecrets && configuration.encryptionKey === undefined
  return {
    ...builtInVersion(row.integration),
    webhookUrl: `${baseUrl}/chat/${row.webhook_id}`,
    configuration: showsSecrets ? configuration : withoutSecrets(configuration),
    ...(showsSharedKey && { sharedEncryptionKey: sharedEncryptionKey(secret.current, row.id) }),
  }
}

function ofWebchat(row: Installation, { baseUrl, showsSecrets }: InstallationView) {
  const configuration = webchatConfigurationOf(row)
  return {
    ...builtInVersion(row.integration),
    webhookUrl: `${baseUrl}/webchat/${row.webhook_id}`,
    configuration: showsSecrets ? configuration : webchatWithoutSecrets(configuration),
  }
}
