import type { Command } from 'commander'
import { exitCodes, failed, Failure, misused } from '../failure.ts'
import type { DeploymentPlan } from '../project/plan-deployment.ts'
import type { Project } from '../project/project.ts'
import { toolsOf } from '../tools.ts'
import { addDeployOptions, hostsIn, type DeployOptions } from './deploy-options.ts'

interface OwnOptions extends DeployOptions {
  note?: string
  renamed?: string
  env?: string
  dryRun?: boolean
  yes?: boolean
}

/** The losses that a deployment may cause. */
interface Allowed {
  allowsNoHooks: boolean
  allowsRemovedNodes: boolean
}

export function addDeployCommand(program: Command): void {
  addDeployOptions(program.command('deploy'))
    .summary('deploy a bot’s project')
    .description(
      'Bundles a bot’s project, checks its types, and deploys it as a new version. The first deployment creates the bot, ' +
        'and isobot.json records its id for each platform. Problems of the source are shown; the deployed version then ' +
        'stays. What isobot.json declares is applied with the code: limits, recurring events, integrations, ' +
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
    .action(async (folder: string, options: OwnOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [
        { openProject, inEnvironment },
        { openBundler },
        { deployProject, describeChanged },
        { refreshPlatformFiles },
        { showProblems },
        { showPlan },
        words,
      ] = await Promise.all([
        import('../project/project.ts'),
        import('../project/bundle.ts'),
        import('../project/deploy.ts'),
        import('../project/platform-files.ts'),
        import('../project/code-frame.ts'),
        import('../project/show-plan.ts'),
        import('../project/show-deployed.ts'),
      ])
      const opened = await openProject(folder)
      const project = options.env === undefined ? opened : inEnvironment(opened, options.env)
      const connection = await connect(project.environment?.profile)
      await refreshPlatformFiles(project.folder)
      await using bundler = await openBundler(project)
      const renamed = renamedIn(options)
      let plan: DeploymentPlan | undefined
      const deploy = async (allowed: Allowed): ReturnType<typeof deployProject> => {
        const deploying = deployProject(project, connection, bundler, {
          checksTypes: options.types,
          bot: options.bot,
          net: hostsIn(options),
          note: options.note,
          renamed,
          onPlan(found) {
            // A deployment that was confirmed is planned again.
            if (plan === undefined && options.dryRun !== true && found.changes.length > 0) {
              output.note(`Changes at ${connection.profile.url}:\n${showPlan(found)}`)
            }
            plan = found
            return options.dryRun !== true
          },
          ...allowed,
        })
        try {
          return await output.during('Deploying', deploying)
        } catch (error) {
          if (!(error instanceof Failure) || error.type !== 'BreakingChanges') throw error
          const { confirm } = await import('../confirm.ts')
          const {
            removed,
            lost,
            changed = [],
          } = (error.details ?? {}) as {
            removed?: string
            lost?: string
            changed?: string[]
          }
          // That of an integration is not a question: its code has to be corrected.
          if (removed === undefined && lost === undefined) throw error
          const question =
            removed === undefined
              ? `The project has no hooks. Replace the version that has ${lost}?`
              : `Conversations wait at nodes that the project does not have: ${removed}. Let them begin again at main?`
          const cancelled = changed.length === 0 ? undefined : `the bot was not changed. ${describeChanged(changed)}`
          await confirm(question, false, cancelled)
          return deploy({
            ...allowed,
            ...(removed === undefined ? { allowsNoHooks: true } : { allowsRemovedNodes: true }),
          })
        }
      }
      const isSure = options.yes ?? false
      const deployed = await deploy({ allowsNoHooks: isSure, allowsRemovedNodes: isSure })
      if (!deployed) {
        const { changes = [], missingSecrets = [] } = plan ?? {}
        output.result({ changes, missingSecrets }, () => {
          const text = changes.length === 0 ? 'Nothing would change' : `Would change:\n${showPlan({ changes })}`
          return missingSecrets.length === 0 ? text : `${text}\n${missing(project, missingSecrets)}`
        })
        return
      }
      if ('problems' in deployed) {
        const { problems, changed = [] } = deployed
        const shown = await showProblems(project.folder, problems)
        const details = { problems, ...(changed.length > 0 && { changed }) }
        const heading =
          changed.length === 0 ? 'Nothing was deployed' : `The bot was not deployed. ${describeChanged(changed)}`
        throw failed(`${heading}:\n\n${shown}`, { type: 'InvalidSource', details })
      }
      const { changes = [], missingSecrets = [] } = plan ?? {}
      output.result({ ...words.describeDeployed(deployed), changes, missingSecrets }, () =>
        words.showDeployed(deployed),
      )
      if (missingSecrets.length > 0) output.note(missing(project, missingSecrets))
      for (const warning of deployed.warnings ?? []) output.note(`Warning: ${warning}`)
      const failures = words.failedRegistrations(deployed.bot, Object.keys(project.settings.integrations ?? {}))
      if (failures.length === 0) return
      process.exitCode = exitCodes.failed
      output.note(`Deployed, and not registered: ${failures.join('; ')}. Correct isobot.json, and deploy again`)
    })
}

function missing({ settings: { name } }: Project, secrets: string[]): string {
  const [first] = secrets
  return `Declared secrets without a value: ${secrets.join(', ')}. Set them with \`isobot secrets set ${name} ${first}\``
}

function renamedIn({ renamed }: OwnOptions): Record<string, string> | undefined {
  if (renamed === undefined) return undefined
  const pairs = renamed.split(',').map((pair) => {
    const [from = '', to = '', ...rest] = pair.trim().split('=')
    if (from === '' || to === '' || rest.length > 0) throw misused(`--renamed takes flow/node=flow/node, not '${pair}'`)
    return [from, to] as const
  })
  return Object.fromEntries(pairs)
}
