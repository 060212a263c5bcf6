import type { Command } from 'commander'
import type { Bot } from '#shared/models/bot.ts'
import type { Connection } from '../connection.ts'
import { failed, misused } from '../failure.ts'
import { toolsOf } from '../tools.ts'

export function addWebchatCommand(program: Command): void {
  program
    .command('webchat')
    .argument('<bot>', 'the bot’s id or name')
    .summary('put a bot on a web page')
    .description(
      'Installs the web chat of a bot where it is missing, and prints the tag to paste into a page. The chat has the name ' +
        'of the bot until its configuration has another.',
    )
    .option('--origin <origins...>', 'the origins whose pages may show it, in addition to those of its configuration')
    .addHelpText('after', '\nExample:\n  $ isobot webchat greeter --origin https://www.example.com\n')
    .action(async (idOrName: string, { origin = [] }: { origin?: string[] }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { scriptTagOf }] = await Promise.all([
        import('../find-bot.ts'),
        import('#shared/chat-client/script-tag.ts'),
      ])
      const origins = origin.map(readOrigin)
      const connection = await connect()
      const bot = await findBot(connection, idOrName)
      const { webhookUrl, allowedOrigins } = await install(connection, bot, origins)
      const tag = scriptTagOf(webhookUrl)
      const page = `${webhookUrl}/chat`
      const isOpen = allowedOrigins === undefined
      output.result({ botId: bot.id, tag, page, allowedOrigins }, () => `${tag}\n\nThe same chat as a page: ${page}`)
      output.note(
        isOpen
          ? 'Pages of all origins may show it: name those that may with --origin'
          : `Pages of these origins may show it: ${allowedOrigins.join(', ')}`,
      )
    })
}

/** The origin of an address. @throws Failure when it is none */
function readOrigin(given: string): string {
  const url = URL.parse(given)
  if (url && /^https?:$/.test(url.protocol)) return url.origin
  throw misused(`--origin ${given}: name an origin such as https://www.example.com`)
}

interface Installed {
  webhookUrl: string
  allowedOrigins: string[] | undefined
}

/** Installs the web chat, or adds the origins to its configuration. */
async function install({ ask }: Connection, bot: Bot, origins: string[]): Promise<Installed> {
  const [{ builtInVersion, webchatIntegration: alias }, { webchatConfigurationOf }] = await Promise.all([
    import('#shared/models/chat-integration.ts'),
    import('#shared/models/webchat-configuration.ts'),
  ])
  const present = bot.integrations[alias]
  const former = present && webchatConfigurationOf(present)
  const known = former?.allowedOrigins ?? []
  const isUnchanged = present?.enabled && origins.every((origin) => known.includes(origin))
  if (isUnchanged) return { webhookUrl: present.webhookUrl, allowedOrigins: former?.allowedOrigins }
  const allowedOrigins = [...new Set([...known, ...origins])]
  const configuration = {
    ...(former ?? { botName: bot.name }),
    ...(allowedOrigins.length > 0 && { allowedOrigins }),
  }
  const settings = { integrationId: builtInVersion(alias).id, enabled: true, configuration }
  const answer = await ask<'updateBot'>('PUT', `/v1/admin/bots/${bot.id}`, {
    body: { integrations: { [alias]: settings } },
  })
  const installed = answer.bot.integrations[alias]
  if (!installed) throw failed('The web chat was not installed')
  return { webhookUrl: installed.webhookUrl, allowedOrigins: webchatConfigurationOf(installed).allowedOrigins }
}
