import { ApiError } from '../errors.ts'
import { chatConfiguration, isWebhookUrl } from '../models/chat-configuration.ts'
import { builtInIntegration, builtInOf, inboxIntegration, webchatIntegration } from '../models/chat-integration.ts'
import type { InstallationRow } from '../models/tables.ts'
import { webchatConfiguration } from '../models/webchat-configuration.ts'
import { compile, describeErrors, type Validator } from '../schema.ts'

/** The planned change of the installation of a built-in integration. */
export type BuiltInChange =
  | { kind: 'configure chat'; present: InstallationRow; configuration: Record<string, unknown> | undefined }
  | {
      kind: 'install built-in'
      /** Absent for a new one. */
      present: InstallationRow | undefined
      /** The name of the integration, which is its alias too. */
      alias: Installable
      enabled: boolean
      /** Absent: unchanged. */
      configuration: Record<string, unknown> | undefined
    }

/** The built-in integrations that a bot has only when it installs them. */
export type Installable = typeof webchatIntegration | typeof inboxIntegration

interface Settings {
  integrationId?: string
  enabled?: boolean
  configuration?: Record<string, unknown>
}

const isChatConfiguration = compile(chatConfiguration, 'body')
const installable = {
  [webchatIntegration]: { noun: 'web chat', isConfiguration: compile(webchatConfiguration, 'body') },
  [inboxIntegration]: {
    noun: 'inbox',
    isConfiguration: compile({ type: 'object', maxProperties: 0 } as const, 'body'),
  },
} as const

/** Plans a change of the chat, which every bot has. @throws ApiError `InvalidPayload` */
export function planChat(present: InstallationRow, name: string, settings: Settings): BuiltInChange {
  if (settings.integrationId !== undefined && builtInOf(settings.integrationId) !== builtInIntegration) {
    throw refused(name, 'is the alias of the bot’s chat: choose another alias')
  }
  if (settings.enabled === false) throw refused(name, 'is part of every bot and cannot be disabled')
  const { configuration } = settings
  if (configuration === undefined) return { kind: 'configure chat', present, configuration }
  if (!isChatConfiguration(configuration)) {
    throw misconfigured(name, isChatConfiguration)
  }
  if (configuration.webhookUrl !== undefined && !isWebhookUrl(configuration.webhookUrl)) {
    throw refused(`${name}.configuration.webhookUrl`, 'must be an http or https URL without user and password')
  }
  return { kind: 'configure chat', present, configuration }
}

/**
 * Plans to install or change the web chat or the inbox. Bots call its actions and get its events by one name, so it has one
 * alias.
 *
 * @param alias the name of the integration
 * @param present the installation of that name, of any integration
 * @throws ApiError `InvalidPayload`
 */
export function planBuiltIn(
  alias: Installable,
  present: InstallationRow | undefined,
  name: string,
  settings: Settings,
): BuiltInChange {
  const { integrationId, enabled = present?.enabled ?? true, configuration } = settings
  const { noun, isConfiguration } = installable[alias]
  const isOther = present && (present.integration_id !== null || present.integration !== alias)
  if (isOther || (!present && name !== alias)) {
    throw refused(name, `is not '${alias}', the alias of the ${noun}: install it under that one`)
  }
  if (integrationId !== undefined && builtInOf(integrationId) !== alias) {
    throw refused(name, `is the alias of the ${noun}: remove that first, or choose another alias`)
  }
  if (configuration !== undefined && !isConfiguration(configuration)) {
    throw misconfigured(name, isConfiguration)
  }
  return { kind: 'install built-in', present, alias, enabled, configuration }
}

function misconfigured(name: string, validate: Validator<unknown>): ApiError {
  return new ApiError('InvalidPayload', describeErrors(validate, `integrations.${name}.configuration`))
}

/** The error for an entry of the settings. */
export function refused(name: string, reason: string): ApiError {
  return new ApiError('InvalidPayload', `integrations.${name} ${reason}`)
}
