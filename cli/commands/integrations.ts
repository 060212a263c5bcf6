import type { Command } from 'commander'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import { misused } from '../failure.ts'
import { table } from '../output.ts'
import { toolsOf } from '../tools.ts'
import { addConfigure, addInstall, addRemove, addUpdate } from './installations.ts'

type Summary = AnswerOf<'listIntegrations'>['integrations'][number]

export function addIntegrationsCommand(program: Command): void {
  const integrations = program
    .command('integrations')
    .summary('list integrations, grant hosts to them, and install, configure, update and remove them on bots')
    .description(
      'The integrations of the workspace and their installations on bots. An INTEGRATION is an id, a name for its newest ' +
        'version, or name@version; one of the workspace precedes a public one.',
    )
    .addHelpText('after', '\nExample:\n  $ isobot integrations install greeter crm@1.2.0 --configuration crm.json\n')
  addList(integrations)
  addShow(integrations)
  addGrant(integrations)
  addInstall(integrations)
  addConfigure(integrations)
  addUpdate(integrations)
  addRemove(integrations)
}

function addList(integrations: Command): void {
  integrations
    .command('list')
    .argument('[bot]', 'the bot’s id or name: lists its installations')
    .description('Lists the integrations of the workspace, or the installations of a bot with their states.')
    .addHelpText('after', '\nExample:\n  $ isobot integrations list\n  $ isobot integrations list greeter\n')
    .action(async (idOrName: string | undefined, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      if (idOrName === undefined) {
        const listed = connection.list<Summary>('/v1/admin/integrations', 'integrations')
        const found = await output.during('Listing', Array.fromAsync(listed))
        output.result({ integrations: found }, () =>
          found.length === 0
            ? 'The workspace has none of its own: `isobot hub list` shows the public ones'
            : table(
                ['NAME', 'VERSION', 'VISIBILITY', 'ID'],
                found.map(({ name, version, visibility, id }) => [name, version, visibility, id]),
              ),
        )
        return
      }
      const { findBot } = await import('../find-bot.ts')
      const { id: botId, integrations: installed } = await findBot(connection, idOrName)
      const states = await connection.ask<'listBotInstallations'>('GET', `/v1/admin/bots/${botId}/installations`)
      const installations = states.installations.map((state) => ({
        ...state,
        webhookUrl: installed[state.alias]?.webhookUrl ?? '',
      }))
      output.result({ botId, installations }, () =>
        table(
          ['ALIAS', 'INTEGRATION', 'VERSION', 'STATE', 'WEBHOOK', 'REASON'],
          installations.map(({ alias, name, version, status, statusReason, enabled, disabledReason, webhookUrl }) => [
            alias,
            name,
            version ?? '',
            enabled ? status.replaceAll('_', ' ') : 'disabled',
            webhookUrl,
            disabledReason ?? statusReason ?? '',
          ]),
        ),
      )
    })
}

function addShow(integrations: Command): void {
  integrations
    .command('show')
    .argument('<integration>', 'its id, name, or name@version')
    .description('Shows the configuration that an integration takes, its channels, secrets and granted hosts.')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot integrations show crm --json | jq .integration.configuration.schema\n',
    )
    .action(async (given: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { findIntegration } = await import('../integrations/find-integration.ts')
      const found = await findIntegration(await connect(), given)
      output.result({ integration: found }, () => {
        const { permissions, channels, secrets, configuration, configurations } = found
        const types = Object.keys(configurations)
        return table(
          ['FIELD', 'VALUE'],
          [
            ['name', `${found.name}@${found.version}`],
            ['id', found.id],
            ['title', found.title],
            ['channels', Object.keys(channels).join(' ')],
            ['configuration', fieldsOf(configuration.schema)],
            ['other configurations', types.join(' ')],
            ['secrets', secrets.join(' ')],
            ['hosts', (permissions.net ?? []).join(' ') || 'none'],
          ].filter(([, value]) => value !== ''),
        )
      })
    })
}

/** The fields of a configuration, those that are required with a star. */
function fieldsOf(schema: Record<string, unknown> | undefined): string {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: object; required?: string[] }
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? `${name}*` : name))
    .join(' ')
}

function addGrant(integrations: Command): void {
  integrations
    .command('grant')
    .argument('<integration>', 'its id, name, or name@version; one of the workspace')
    .argument('[hosts...]', 'api.example.com, *.example.com, or * for all public hosts')
    .description('Lets the code of an integration request hosts, on all bots where it is installed.')
    .option('--only', 'revoke all other hosts')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot integrations grant crm api.crm.example\n  $ isobot integrations grant crm --only\n',
    )
    .action(async (given: string, hosts: string[], { only = false }: { only?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      if (hosts.length === 0 && !only) throw misused('Name the hosts to grant; --only without hosts revokes all')
      const { findIntegration } = await import('../integrations/find-integration.ts')
      const connection = await connect()
      const { id, name, version, permissions } = await findIntegration(connection, given)
      const net = [...new Set([...(only ? [] : (permissions.net ?? [])), ...hosts])]
      await connection.ask('PUT', `/v1/admin/integrations/${id}`, { body: { permissions: { net } } })
      output.result({ id, net }, `${name}@${version} may request ${net.join(', ') || 'no hosts'}`)
    })
}
