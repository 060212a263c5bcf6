import type { Command } from 'commander'
import { table } from '../output.ts'
import { listProfiles, localName, removeProfile, useProfile } from '../profiles.ts'
import { toolsOf } from '../tools.ts'

export function addProfilesCommand(program: Command): void {
  const profiles = program
    .command('profiles')
    .summary('list, choose and remove saved platforms')
    .description(
      `The platforms that you are logged in to. "${localName}" is the one that \`isobot start\` runs on this machine. Profiles ` +
        'are stored in ~/.config/isobot, or in ISOBOT_CONFIG_DIR.',
    )
    .addHelpText('after', '\nExample:\n  $ isobot profiles use production\n')

  profiles
    .command('list')
    .description('Lists the profiles; * marks the default profile.')
    .addHelpText('after', '\nExample:\n  $ isobot profiles list\n')
    .action(async (_options: object, command: Command) => {
      const known = await listProfiles()
      const shown = known.profiles.map(({ name, url, workspaceId }) => {
        return { name, url, workspaceId, isCurrent: name === known.current }
      })
      toolsOf(command).output.result({ profiles: shown }, () => {
        if (shown.length === 0)
          return 'There are no profiles: start a platform here with `isobot start`, or log in to one with `isobot login`'
        const rows = shown.map(({ name, url, workspaceId, isCurrent }) => [
          isCurrent ? '*' : '',
          name,
          url,
          workspaceId,
        ])
        return table(['', 'NAME', 'ADDRESS', 'WORKSPACE'], rows)
      })
    })

  profiles
    .command('use')
    .argument('<name>', 'a profile')
    .description('Makes a profile the default.')
    .addHelpText('after', `\nExample:\n  $ isobot profiles use ${localName}\n`)
    .action(async (name: string, _options: object, command: Command) => {
      await useProfile(name)
      toolsOf(command).output.result({ current: name }, `The default profile is now ${name}`)
    })

  profiles
    .command('remove')
    .argument('<name>', 'a profile')
    .description('Removes a profile and its token.')
    .addHelpText('after', '\nExample:\n  $ isobot profiles remove staging\n')
    .action(async (name: string, _options: object, command: Command) => {
      await removeProfile(name)
      toolsOf(command).output.result({ removed: name }, `Forgot ${name}`)
    })
}
