import type { Command } from 'commander'
import { toolsOf } from '../tools.ts'

interface LoginOptions {
  url?: string
  token?: string
  workspace?: string
  invitation?: string
}

export function addLoginCommand(program: Command): void {
  program
    .command('login')
    .summary('know a platform by its address and a token')
    .description(
      'Checks an address and a token, and keeps them as a profile that is used from now on. Asks for what is not given. ' +
        'A token that comes from standard input is in no list of processes and no history of the shell.',
    )
    .option('--url <address>', 'where the platform is (ISOBOT_URL)')
    .option('--token <token>', 'a personal access token (ISOBOT_TOKEN, or the first line of standard input)')
    .option('--workspace <id>', 'the workspace, where the token is of several (ISOBOT_WORKSPACE)')
    .option(
      '--invitation <invitation>',
      'accept an invitation to a workspace: with --token as the account of that token, else as a new one',
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot login --url https://bots.example.com --profile production < token.txt\n',
    )
    .action(async ({ url, token, workspace, invitation }: LoginOptions, command: Command) => {
      const { options, output } = toolsOf(command)
      const { login } = await import('../login.ts')
      const environment = process.env
      const profile = await login(
        {
          url: url ?? environment.ISOBOT_URL,
          token: token ?? environment.ISOBOT_TOKEN,
          workspaceId: workspace ?? environment.ISOBOT_WORKSPACE,
          name: options.profile,
          invitation,
        },
        output,
      )
      const { token: _secret, ...shown } = profile
      output.result({ profile: shown }, `Logged in to ${profile.url} as the profile ${profile.name}`)
    })
}
