import type { Command } from 'commander'

/** What a command was told that deploys a project. */
export interface DeployOptions {
  bot?: string
  allowNet?: string
  types: boolean
}

/** Gives a command the folder and the options of those that deploy a project. */
export function addDeployOptions(command: Command): Command {
  return command
    .argument('[folder]', 'the project’s', '.')
    .option('--bot <bot>', 'deploy to this bot, and remember it')
    .option('--allow-net <hosts>', 'hosts that it may reach, with commas between them, instead of those in isobot.json')
    .option('--no-types', 'do not check the types')
}

/** The hosts of `--allow-net`; undefined when it was not given. */
export function hostsIn({ allowNet }: DeployOptions): string[] | undefined {
  return allowNet?.split(',').map((host) => host.trim())
}
