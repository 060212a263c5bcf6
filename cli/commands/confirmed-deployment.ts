import { hostsIn, type DeployOptions } from './deploy-options.ts'
import { confirm } from '../confirm.ts'
import { exitCodes, failed, Failure, misused } from '../failure.ts'
import type { Output } from '../output.ts'
import type { Tools } from '../tools.ts'
import { openBundler } from '../project/bundle.ts'
import { showProblems } from '../project/code-frame.ts'
import { deployProject, describeChanged, type Deployed, type NotDeployed } from '../project/deploy.ts'
import type { DeploymentPlan } from '../project/plan-deployment.ts'
import { refreshPlatformFiles } from '../project/platform-files.ts'
import { inEnvironment, openProject, type Project } from '../project/project.ts'
import { describeDeployed, failedRegistrations, showDeployed } from '../project/show-deployed.ts'
import { showPlan } from '../project/show-plan.ts'

/** The options of `isobot deploy`. */
export interface DeployCommandOptions extends DeployOptions {
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

type Plan = Pick<DeploymentPlan, 'changes' | 'missingSecrets'>

/**
 * Deploys a project for a person at a terminal: shows the difference to what is in service before, asks before something is
 * lost, and shows the outcome.
 *
 * @throws Failure when the deployment fails, when the source has problems, or when the person cancels it
 */
export async function deployConfirmed(
  { output, connect }: Tools,
  folder: string,
  options: DeployCommandOptions,
): Promise<void> {
  const opened = await openProject(folder)
  const project = options.env === undefined ? opened : inEnvironment(opened, options.env)
  const connection = await connect(project.environment?.profile)
  await refreshPlatformFiles(project.folder)
  await using bundler = await openBundler(project)
  const isDryRun = options.dryRun === true
  const renamed = renamedIn(options)
  let plan: DeploymentPlan | undefined
  const onPlan = (found: DeploymentPlan): boolean => {
    // A deployment that was confirmed is planned again.
    if (plan === undefined && !isDryRun && found.changes.length > 0) {
      output.note(`Changes at ${connection.profile.url}:\n${showPlan(found)}`)
    }
    plan = found
    return !isDryRun
  }
  const deploy = async (allowed: Allowed) => {
    const { types: checksTypes, bot, note } = options
    const net = hostsIn(options)
    const deploying = deployProject(project, connection, bundler, {
      checksTypes,
      bot,
      net,
      note,
      renamed,
      onPlan,
      ...allowed,
    })
    return output.during('Deploying', deploying)
  }
  const isSure = options.yes ?? false
  const deployed = await untilAllowed(deploy, { allowsNoHooks: isSure, allowsRemovedNodes: isSure })
  const shown = plan ?? { changes: [], missingSecrets: [] }
  if (!deployed) return showDryRun(output, project, shown)
  if ('problems' in deployed) throw await refusal(project, deployed)
  showOutcome(output, project, shown, deployed)
}

/** Deploys, and again with what a person allows each time that the platform refuses a loss. */
async function untilAllowed<Result>(deploy: (allowed: Allowed) => Promise<Result>, allowed: Allowed): Promise<Result> {
  try {
    return await deploy(allowed)
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'BreakingChanges') throw error
    return untilAllowed(deploy, { ...allowed, ...(await confirmLoss(error)) })
  }
}

/**
 * Asks whether a deployment may lose what the platform keeps for that reason.
 *
 * @returns the loss that is allowed
 * @throws the failure itself when it is that of an integration, whose code has to be corrected
 */
async function confirmLoss(failure: Failure): Promise<Partial<Allowed>> {
  const details = (failure.details ?? {}) as { removed?: string; lost?: string; changed?: string[] }
  const { removed, lost, changed = [] } = details
  if (removed === undefined && lost === undefined) throw failure
  const question =
    removed === undefined
      ? `The project has no hooks. Replace the version that has ${lost}?`
      : `Conversations wait at nodes that the project does not have: ${removed}. Let them begin again at main?`
  const cancelled = changed.length === 0 ? undefined : `the bot was not changed. ${describeChanged(changed)}`
  await confirm(question, false, cancelled)
  return removed === undefined ? { allowsNoHooks: true } : { allowsRemovedNodes: true }
}

function showDryRun(output: Output, project: Project, { changes, missingSecrets }: Plan): void {
  output.result({ changes, missingSecrets }, () => {
    const text = changes.length === 0 ? 'Nothing would change' : `Would change:\n${showPlan({ changes })}`
    return missingSecrets.length === 0 ? text : `${text}\n${missing(project, missingSecrets)}`
  })
}

async function refusal({ folder }: Project, { problems, changed = [] }: NotDeployed): Promise<Failure> {
  const details = { problems, ...(changed.length > 0 && { changed }) }
  const heading =
    changed.length === 0 ? 'Nothing was deployed' : `The bot was not deployed. ${describeChanged(changed)}`
  return failed(`${heading}:\n\n${await showProblems(folder, problems)}`, { type: 'InvalidSource', details })
}

function showOutcome(output: Output, project: Project, { changes, missingSecrets }: Plan, deployed: Deployed): void {
  output.result({ ...describeDeployed(deployed), changes, missingSecrets }, () => showDeployed(deployed))
  if (missingSecrets.length > 0) output.note(missing(project, missingSecrets))
  for (const warning of deployed.warnings ?? []) output.note(`Warning: ${warning}`)
  const failures = failedRegistrations(deployed.bot, Object.keys(project.settings.integrations ?? {}))
  if (failures.length === 0) return
  process.exitCode = exitCodes.failed
  output.note(`Deployed, and not registered: ${failures.join('; ')}. Correct isobot.json, and deploy again`)
}

function missing({ settings: { name } }: Project, secrets: string[]): string {
  const [first] = secrets
  return `Declared secrets without a value: ${secrets.join(', ')}. Set them with \`isobot secrets set ${name} ${first}\``
}

function renamedIn({ renamed }: DeployCommandOptions): Record<string, string> | undefined {
  if (renamed === undefined) return undefined
  const pairs = renamed.split(',').map((pair) => {
    const [from = '', to = '', ...rest] = pair.trim().split('=')
    if (from === '' || to === '' || rest.length > 0) throw misused(`--renamed takes flow/node=flow/node, not '${pair}'`)
    return [from, to] as const
  })
  return Object.fromEntries(pairs)
}
