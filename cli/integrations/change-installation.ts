import type { Bot } from '#shared/models/bot.ts'
import type { Connection } from '../connection.ts'
import { didYouMean } from '#shared/did-you-mean.ts'
import { failed } from '../failure.ts'
import type { Output } from '../output.ts'

export type Installation = Bot['integrations'][string]

/** The settings of an installation that a command changes; absent ones stay. */
export interface InstallationSettings {
  integrationId?: string
  enabled?: boolean
  configuration?: Record<string, unknown>
  configurationType?: string | null
}

/**
 * Changes an installation of a bot, and waits until the integration has registered.
 *
 * @throws Failure when it does not register; the change is made all the same
 */
export async function changeInstallation(
  { ask }: Connection,
  output: Output,
  { id, name }: Bot,
  alias: string,
  settings: InstallationSettings,
): Promise<Installation> {
  const body = { integrations: { [alias]: settings } }
  const { bot } = await output.during('Registering', ask<'updateBot'>('PUT', `/v1/admin/bots/${id}`, { body }))
  const installed = bot.integrations[alias]
  if (!installed) throw failed(`${alias} is not installed on ${name}: remove it, and install it again`)
  if (installed.status === 'registration_failed') {
    throw failed(
      `${alias} is installed, and its registration failed: ${installed.statusReason ?? 'without a reason'}. Correct its ` +
        `configuration with \`isobot integrations configure ${name} ${alias}\``,
      { type: 'RegistrationFailed', details: { botId: id, alias, status: installed.status } },
    )
  }
  return installed
}

/** An installation, by its alias. @throws Failure when the bot has none */
export function installationOf({ name, integrations }: Bot, alias: string): Installation {
  const found = integrations[alias]
  if (found) return found
  const aliases = Object.keys(integrations)
  const near = didYouMean(alias, aliases)
  throw failed(
    `${name} has no installation "${alias}"${near === undefined ? '' : `; did you mean "${near}"?`}: it has ${aliases.join(', ')}`,
    { type: 'ResourceNotFound' },
  )
}

/** The representation of an installation in the output. */
export function describeInstallation(done: string, alias: string, installation: Installation): string {
  const { name, version, status, webhookUrl, enabled } = installation
  return [
    `${done} ${alias} (${name}@${version}): ${status.replaceAll('_', ' ')}${enabled ? '' : ', disabled'}`,
    `  webhook  ${webhookUrl}`,
  ].join('\n')
}
