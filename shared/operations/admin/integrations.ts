import { ApiError } from '../../errors.ts'
import { chatConfiguration, isWebhookUrl, type ChatConfiguration } from '../../models/chat-configuration.ts'
import type { Infer } from '../../schema.ts'
import type { InstallationRow } from '../../store/tables.ts'

/** What an administrator may set of a bot's installations. */
export const integrations = {
  type: 'object',
  description: 'By alias or by the installation’s id. An installation that is not named stays as it is.',
  additionalProperties: {
    type: 'object',
    nullable: true,
    additionalProperties: false,
    properties: {
      configuration: {
        ...chatConfiguration,
        description: 'Replaces the former configuration whole. Without it, that stays.',
      },
    },
  },
} as const

/** A configuration, and the installation that is to have it. */
export interface NewConfiguration {
  installation: InstallationRow
  configuration: ChatConfiguration
}

/**
 * Tells which of a bot's installations are to be configured, and how.
 *
 * @param installations all of the bot's
 * @param given by alias or id, as an administrator sent it
 * @throws ApiError `InvalidPayload` when there is no such installation, when one is named twice or is to be removed, or
 *   when its webhook cannot be called
 */
export function newConfigurations(
  installations: InstallationRow[],
  given: Infer<typeof integrations> = {},
): NewConfiguration[] {
  const named = new Set<InstallationRow>()
  return Object.entries(given).flatMap(([name, settings]) => {
    const installation = installations.find(({ id, alias }) => id === name || alias === name)
    if (!installation) throw refused(name, `is not there: the bot has ${listAliases(installations)}`)
    if (named.has(installation)) throw refused(name, 'is named twice, by its alias and by its id: name it once')
    named.add(installation)
    if (settings === null) throw refused(name, 'is part of every bot and cannot be removed: leave it out')
    const { configuration } = settings
    if (configuration === undefined) return []
    if (configuration.webhookUrl !== undefined && !isWebhookUrl(configuration.webhookUrl)) {
      throw refused(`${name}.configuration.webhookUrl`, 'must be an http or https address without user and password')
    }
    return [{ installation, configuration }]
  })
}

function listAliases(installations: InstallationRow[]): string {
  return installations.map(({ alias }) => `'${alias}'`).join(', ')
}

function refused(name: string, reason: string): ApiError {
  return new ApiError('InvalidPayload', `integrations.${name} ${reason}`)
}
