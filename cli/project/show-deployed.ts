import type { Bot } from '#shared/models/bot.ts'
import { styled } from '../output.ts'
import { listNodes, type Deployed } from './deploy.ts'

/** The result of a deployment as a document for programs. */
export function describeDeployed({ bot, isNew, removedNodes, warnings, checkedTypes, milliseconds }: Deployed) {
  const { id, name, version, integrations } = bot
  return {
    bot: { id, name },
    isNew,
    checkedTypes,
    version,
    chatUrl: integrations['chat']?.webhookUrl,
    ...(removedNodes && { removedNodes }),
    ...(warnings && { warnings }),
    integrations: Object.fromEntries(
      installationsOf(bot).map(([alias, { status, statusReason, webhookUrl }]) => [
        alias,
        { status, ...(statusReason && { statusReason }), webhookUrl },
      ]),
    ),
    milliseconds,
  }
}

/** The result of a deployment as text for people. */
export function showDeployed({ bot, isNew, removedNodes, checkedTypes, milliseconds }: Deployed): string {
  const { id, name, version } = bot
  const heading = `${styled('green', isNew ? 'Created' : 'Deployed')} ${styled('bold', name)} in ${seconds(milliseconds.all)}`
  return [
    heading,
    `  bot      ${id}`,
    `  version  ${version?.id}  (${version?.hash.slice(0, 12)})`,
    `  hooks    ${listed(version?.hooks)}`,
    `  actions  ${listed(version?.actions)}`,
    `  talk     isobot chat ${name}`,
    ...installationsOf(bot).map(showInstallation),
    ...(removedNodes ? [`  waiting  at removed nodes, and continue at main: ${listNodes(removedNodes)}`] : []),
    ...(checkedTypes
      ? []
      : ['  types    not checked: the check needs a tsconfig.json, and typescript from isobot’s dev dependencies']),
  ].join('\n')
}

type Installation = Bot['integrations'][string]

/** The installations of a bot beside its chat. */
function installationsOf({ integrations }: Bot): [alias: string, installation: Installation][] {
  return Object.entries(integrations).filter(([alias]) => alias !== 'chat')
}

function showInstallation([alias, { enabled, status, statusReason, webhookUrl }]: [string, Installation]): string {
  const state = enabled ? status.replaceAll('_', ' ') : 'disabled'
  return `  ${alias.padEnd(8)} ${state}${statusReason ? `: ${statusReason}` : ''}, ${webhookUrl}`
}

/** The declared integrations that have not registered, with the reasons. */
export function failedRegistrations({ integrations }: Bot, declared: string[]): string[] {
  return declared.flatMap((alias) => {
    const { status, statusReason } = integrations[alias] ?? {}
    return status === 'registration_failed' ? [`${alias}: ${statusReason || 'without a reason'}`] : []
  })
}

/** The result of a deployment as one line, for `isobot dev`, and a line for each warning. */
export function showDeployedBriefly({ bot, warnings = [], checkedTypes, milliseconds }: Deployed): string {
  const { all, preparing } = milliseconds
  const parts = `${preparing} ms to bundle${checkedTypes ? ' and check types' : ''}, ${all - preparing} ms to deploy`
  const heading = `${styled('green', 'Deployed')} ${bot.version?.id} in ${seconds(all)} ${styled('dim', `(${parts})`)}`
  return [heading, ...warnings.map((warning) => `Warning: ${warning}`)].join('\n')
}

function listed(names: string[] = []): string {
  return names.length === 0 ? '-' : names.join(', ')
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`
}
