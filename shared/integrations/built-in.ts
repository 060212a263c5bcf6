import { ApiError } from '../errors.ts'
import { chatConfiguration, isWebhookUrl } from '../models/chat-configuration.ts'
import { builtInIntegration, builtInOf, isWebchat, webchatIntegration } from '../models/chat-integration.ts'
import type { InstallationRow } from '../models/tables.ts'
import { webchatConfiguration } from '../models/webchat-configuration.ts'
import { compile, describeErrors } from '../schema.ts'

/** The planned change of the installation of a built-in integration. */
export type BuiltInChange =
  | { kind: 'configure chat'; present: InstallationRow; configuration: Record<string, unknown> | undefined }
  | {
      kind: 'install web chat'
      /** Absent for a new one. */
      present: InstallationRow | undefined
      alias: typeof webchatIntegration
      enabled: boolean
      /** Absent: unchanged. */
      configuration: Record<string, unknown> | undefined
    }

interface Settings {
  integrationId?: string
  enabled?: boolean
  configuration?: Record<string, unknown>
}

const isChatConfiguration = compile(chatConfiguration, 'body')
const isWebchatConfiguration = compile(webchatConfiguration, 'body')

/** Plans a change of the chat, which every bot has. @throws ApiError `InvalidPayload` */
export function planChat(present: InstallationRow, name: string, settings: Settings): BuiltInChange {
  if (settings.integrationId !== undefined && builtInOf(settings.integrationId) !== builtInIntegration) {
    throw refused(name, 'is the alias of the bot’s chat: choose another alias')
  }
  if (settings.enabled === false) throw refused(name, 'is part of every bot and cannot be disabled')
  const { configuration } = settings
  if (configuration === undefined) return { kind: 'configure chat', present, configuration }
  if (!isChatConfiguration(configuration)) {
    throw refused(`${name}.configuration`, describeErrors(isChatConfiguration))
  }
  if (configuration.webhookUrl !== undefined && !isWebhookUrl(configuration.webhookUrl)) {
    throw refused(`${name}.configuration.webhookUrl`, 'must be an http or https URL without user and password')
  }
  return { kind: 'configure chat', present, configuration }
}

/**
 * Plans to install or change the web chat. Bots call its actions and get its events by one name, so it has one alias.
 *
 * @param present the installation of that name, of any integration
 * @throws ApiError `InvalidPayload`
 */
export function planWebchat(present: InstallationRow | undefined, name: string, settings: Settings): BuiltInChange {
  const { integrationId, enabled = present?.enabled ?? true, configuration } = settings
  if (present ? !isWebchat(present) : name !== webchatIntegration) {
    throw refused(name, `is not '${webchatIntegration}', the alias of the web chat: install it under that one`)
  }
  if (integrationId !== undefined && builtInOf(integrationId) !== webchatIntegration) {
    throw refused(name, 'is the alias of the web chat: remove that first, or choose another alias')
  }
  if (configuration !== undefined && !isWebchatConfiguration(configuration)) {
    throw refused(`${name}.configuration`, describeErrors(isWebchatConfiguration))
  }
  return { kind: 'install web chat', present, alias: webchatIntegration, enabled, configuration }
}

/** The error for an entry of the settings. */
export function refused(name: string, reason: string): ApiError {
  return new ApiError('InvalidPayload', `integrations.${name} ${reason}`)
}
