import type { Command } from 'commander'
import { toolsOf } from '../tools.ts'
import { addDeployOptions, hostsIn, type DeployOptions } from './deploy-options.ts'

export function addDevCommand(program: Command): void {
  addDeployOptions(program.command('dev'))
    .summary('work on a bot: deploy every change, see its log, talk to it')
    .description(
      'Deploys a bot’s project with every change of a file, shows the bot’s log with the lines of its own files, and talks ' +
        'to it: what is typed is said. What is wrong with the source is shown, and then the version in service stays. The ' +
        'platform is the one that `isobot start` runs here, unless a profile says otherwise.',
    )
    .addHelpText('after', '\nExample:\n  $ isobot init greeter && cd greeter && isobot dev\n')
    .action(async (folder: string, options: DeployOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ openProject }, { refreshPlatformFiles }, { develop }, { untilInterrupted }] = await Promise.all([
        import('../project/project.ts'),
        import('../project/platform-files.ts'),
        import('../project/develop.ts'),
        import('../start/interrupt.ts'),
      ])
      const project = await openProject(folder)
      const connection = await connect()
      await refreshPlatformFiles(project.folder)
      using interruption = untilInterrupted()
      await develop(project, connection, {
        output,
        signal: interruption.signal,
        checksTypes: options.types,
        bot: options.bot,
        net: hostsIn(options),
      })
    })
}
