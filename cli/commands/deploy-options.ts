import type { Command } from 'commander'

/** The options of a command that deploys a project. */
export interface DeployOptions {
  bot?: string
  allowNet?: string
  types: boolean
}

/** Adds the folder argument and the deployment options to a command. */
export function addDeployOptions(command: Command): Command {
  return command
    .argument('[folder]', 'the project’s', '.')
    .option('--bot <bot>', 'deploy to this bot, and record it in isobot.json')
    .option('--allow-net <hosts>', 'comma-separated hosts that the bot may request, instead of those in isobot.json')
    .option('--no-types', 'skip the check of types')
}

/** The hosts of `--allow-net`; undefined without that option. */
export function hostsIn({ allowNet }: DeployOptions): string[] | undefined {
  return allowNet?.split(',').map((host) => host.trim())
}
