import type { Command } from 'commander'
import { misused } from '../failure.ts'
import { toolsOf } from '../tools.ts'

/** The subcommands of `isobot integrations` that change a bot. */

const botArgument = ['<bot>', 'the bot’s id or name'] as const
const aliasArgument = ['<alias>', 'the name of the installation, from `isobot integrations list BOT`'] as const
const configurationOption = [
  '--configuration <file>',
  'the configuration as JSON; - for standard input. It replaces the present one',
] as const

interface ConfigurationOptions {
  configuration?: string
  configurationType?: string
}

async function settingsIn({ configuration, configurationType }: ConfigurationOptions) {
  const { readJsonFile } = await import('../read-json.ts')
  return {
    ...(configuration !== undefined && { configuration: await readJsonFile(configuration) }),
    ...(configurationType !== undefined && { configurationType }),
  }
}

async function modules() {
  const [{ findBot }, { findIntegration }, { changeInstallation, describeInstallation, installationOf }] =
    await Promise.all([
      import('../find-bot.ts'),
      import('../integrations/find-integration.ts'),
      import('../integrations/change-installation.ts'),
    ])
  return { findBot, findIntegration, changeInstallation, describeInstallation, installationOf }
}

export function addInstall(integrations: Command): void {
  integrations
    .command('install')
    .argument(...botArgument)
    .argument('<integration>', 'its id, name, or name@version')
    .description('Installs an integration on a bot, and waits until it has registered.')
    .option('--alias <name>', 'the name of the installation (default: the integration’s name)')
    .option(...configurationOption)
    .option('--configuration-type <name>', 'the name of one of the integration’s other configurations')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot integrations install greeter crm@1.2.0 --configuration crm.json\n' +
        '  $ jq -n "{token: env.TOKEN}" | isobot integrations install greeter crm --configuration -\n',
    )
    .action(
      async (
        idOrName: string,
        given: string,
        { alias, ...options }: ConfigurationOptions & { alias?: string },
        command: Command,
      ) => {
        const { output, connect } = toolsOf(command)
        const { findBot, findIntegration, changeInstallation, describeInstallation } = await modules()
        const connection = await connect()
        const [bot, integration] = [await findBot(connection, idOrName), await findIntegration(connection, given)]
        const name = alias ?? integration.name
        if (bot.integrations[name]) {
          throw misused(
            `${bot.name} has an installation "${name}": change it with \`isobot integrations configure\` or ` +
              '`update`, or choose another --alias',
          )
        }
        const settings = { integrationId: integration.id, ...(await settingsIn(options)) }
        const installed = await changeInstallation(connection, output, bot, name, settings)
        output.result({ botId: bot.id, alias: name, installation: installed }, () =>
          describeInstallation('Installed', name, installed),
        )
      },
    )
}

export function addConfigure(integrations: Command): void {
  integrations
    .command('configure')
    .argument(...botArgument)
    .argument(...aliasArgument)
    .description(
      'Replaces the configuration of an installation, enables or disables it, and waits until it has registered.',
    )
    .option(...configurationOption)
    .option('--configuration-type <name>', 'the name of one of the integration’s other configurations')
    .option('--enable', 'let it receive and send messages again')
    .option('--disable', 'keep it, without messages')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot integrations configure greeter crm --configuration crm.json\n' +
        '  $ isobot integrations configure greeter crm --disable\n',
    )
    .action(
      async (
        idOrName: string,
        alias: string,
        { enable, disable, ...options }: ConfigurationOptions & { enable?: boolean; disable?: boolean },
        command: Command,
      ) => {
        const { output, connect } = toolsOf(command)
        const settings = {
          ...(await settingsIn(options)),
          ...(enable && { enabled: true }),
          ...(disable && { enabled: false }),
        }
        if (enable && disable) throw misused('--enable and --disable exclude each other')
        if (Object.keys(settings).length === 0) {
          throw misused('Nothing to change: add --configuration, --configuration-type, --enable or --disable')
        }
        const { findBot, changeInstallation, describeInstallation, installationOf } = await modules()
        const connection = await connect()
        const bot = await findBot(connection, idOrName)
        installationOf(bot, alias)
        const installed = await changeInstallation(connection, output, bot, alias, settings)
        output.result({ botId: bot.id, alias, installation: installed }, () =>
          describeInstallation('Configured', alias, installed),
        )
      },
    )
}

export function addUpdate(integrations: Command): void {
  integrations
    .command('update')
    .argument(...botArgument)
    .argument(...aliasArgument)
    .argument('[version]', 'a version or a range', 'latest')
    .description('Brings an installation to another version of its integration, with the same configuration.')
    .addHelpText('after', '\nExample:\n  $ isobot integrations update greeter crm\n')
    .action(async (idOrName: string, alias: string, version: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { findBot, findIntegration, changeInstallation, describeInstallation, installationOf } = await modules()
      const connection = await connect()
      const bot = await findBot(connection, idOrName)
      const { name, version: from } = installationOf(bot, alias)
      const { id: integrationId } = await findIntegration(connection, `${name}@${version}`)
      const installed = await changeInstallation(connection, output, bot, alias, { integrationId })
      output.result({ botId: bot.id, alias, from, installation: installed }, () =>
        describeInstallation(from === installed.version ? 'Unchanged' : `Updated from ${from}:`, alias, installed),
      )
    })
}

export function addRemove(integrations: Command): void {
  integrations
    .command('remove')
    .argument(...botArgument)
    .argument(...aliasArgument)
    .description('Removes an installation with its users and conversations, after a confirmation.')
    .option('-y, --yes', 'skip the confirmation')
    .addHelpText('after', '\nExample:\n  $ isobot integrations remove greeter crm --yes\n')
    .action(async (idOrName: string, alias: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot, installationOf }, { confirm }] = await Promise.all([modules(), import('../confirm.ts')])
      const connection = await connect()
      const bot = await findBot(connection, idOrName)
      installationOf(bot, alias)
      if (alias === 'chat') throw misused('The chat is part of every bot: it cannot be removed')
      await confirm(`Remove ${alias} of ${bot.name} with its users and conversations?`, yes)
      const body = { integrations: { [alias]: null } }
      await output.during('Removing', connection.ask('PUT', `/v1/admin/bots/${bot.id}`, { body }))
      output.result({ botId: bot.id, removed: alias }, `Removed ${alias} of ${bot.name}`)
    })
}
