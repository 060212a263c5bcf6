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
    .summary('save the address and a token of a platform')
    .description(
      'Checks an address and a token, and saves them as the default profile. Prompts for missing values. ' +
        'A token on standard input appears in no list of processes and no shell history.',
    )
    .option('--url <address>', 'where the platform is (ISOBOT_URL)')
    .option('--token <token>', 'a personal access token (ISOBOT_TOKEN, or the first line of standard input)')
    .option('--workspace <id>', 'the workspace, if the token’s account has several (ISOBOT_WORKSPACE)')
    .option(
      '--invitation <invitation>',
      'accept an invitation to a workspace, with the account of --token or with a new account',
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
