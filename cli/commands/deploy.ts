import type { Command } from 'commander'
import { failed, Failure } from '../failure.ts'
import { toolsOf } from '../tools.ts'
import { addDeployOptions, hostsIn, type DeployOptions } from './deploy-options.ts'

export function addDeployCommand(program: Command): void {
  addDeployOptions(program.command('deploy'))
    .summary('deploy a bot’s project')
    .description(
      'Bundles a bot’s project, checks its types, and deploys it as a new version. The first deployment creates the bot, ' +
        'and isobot.json records its id for each platform. Problems of the source are shown; the deployed version then ' +
        'stays.',
    )
    .option('--note <note>', 'the changes in this version, for the list of versions')
    .option('-y, --yes', 'skip the confirmation before a version without hooks replaces one with hooks')
    .addHelpText('after', '\nExample:\n  $ isobot deploy --profile production --note "Understands Dutch"\n')
    .action(async (folder: string, options: DeployOptions & { note?: string; yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ openProject }, { openBundler }, { deployProject }, { refreshPlatformFiles }, { showProblems }, words] =
        await Promise.all([
          import('../project/project.ts'),
          import('../project/bundle.ts'),
          import('../project/deploy.ts'),
          import('../project/platform-files.ts'),
          import('../project/code-frame.ts'),
          import('../project/show-deployed.ts'),
        ])
      const project = await openProject(folder)
      const connection = await connect()
      await refreshPlatformFiles(project.folder)
      await using bundler = await openBundler(project)
      const deploy = (allowsNoHooks: boolean) => {
        const deploying = deployProject(project, connection, bundler, {
          checksTypes: options.types,
          bot: options.bot,
          net: hostsIn(options),
          note: options.note,
          allowsNoHooks,
        })
        return output.during('Deploying', deploying)
      }
      const deployed = await deploy(options.yes ?? false).catch(async (error: unknown) => {
        if (!(error instanceof Failure) || error.type !== 'BreakingChanges') throw error
        const { confirm } = await import('../confirm.ts')
        await confirm(
          `The project has no hooks. Replace the version that has ${String(error.details?.['lost'])}?`,
          false,
        )
        return deploy(true)
      })
      if (!deployed) return
      if ('problems' in deployed) {
        const { problems } = deployed
        const shown = await showProblems(project.folder, problems)
        throw failed(`Nothing was deployed:\n\n${shown}`, { type: 'InvalidSource', details: { problems } })
      }
      output.result(words.describeDeployed(deployed), () => words.showDeployed(deployed))
    })
}
