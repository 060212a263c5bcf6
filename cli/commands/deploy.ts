import type { Command } from 'commander'
import type { DeployCommandOptions } from './confirmed-deployment.ts'
import { toolsOf } from '../tools.ts'
import { addDeployOptions } from './deploy-options.ts'

export function addDeployCommand(program: Command): void {
  addDeployOptions(program.command('deploy'))
    .summary('deploy a bot’s project')
    .description(
      'Bundles a bot’s project, checks its types, and deploys it as a new version. The first deployment creates the bot, ' +
        'and isobot.json records its id for each platform. Problems of the source are shown; the deployed version then ' +
        'stays. The declarations of isobot.json are applied with the code: limits, recurring events, integrations, ' +
        'subscriptions. The difference to what is in service is shown before.',
    )
    .option('--env <name>', 'an environment of isobot.json: its platform, its bot, its declarations')
    .option('--dry-run', 'show the difference to what is in service, and change nothing')
    .option('--note <note>', 'the changes in this version, for the list of versions')
    .option('--renamed <nodes>', 'comma-separated removed nodes and those in their place, as main/ask=order/size')
    .option('-y, --yes', 'skip the confirmation before hooks, or nodes at which conversations wait, are removed')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot deploy --dry-run\n  $ isobot deploy --env staging --note "Understands Dutch"\n',
    )
    .action(async (folder: string, options: DeployCommandOptions, command: Command) => {
      const { deployConfirmed } = await import('./confirmed-deployment.ts')
      await deployConfirmed(toolsOf(command), folder, options)
    })
}
