import type { Command } from 'commander'
import { toolsOf } from '../tools.ts'
import { addDeployOptions, hostsIn, type DeployOptions } from './deploy-options.ts'

export function addDevCommand(program: Command): void {
  addDeployOptions(program.command('dev'))
    .summary('work on a bot: deploy each change, follow the log, talk to the bot')
    .description(
      'Deploys a bot’s project at each change of a file, isobot.json too, shows the bot’s log with positions in the ' +
        'source files, and sends typed lines as messages. Problems of the source are shown; the deployed version then ' +
        'stays. The default platform is the one that `isobot start` runs here.',
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
