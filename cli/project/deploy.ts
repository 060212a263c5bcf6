import { isDeepStrictEqual } from 'node:util'
import type { Bot } from '#shared/models/bot.ts'
import { findSource, indexSourceMap, sourceFile } from '#sandbox/compiler/source-map.ts'
import type { Connection } from '../connection.ts'
import { failed, Failure, misused } from '../failure.ts'
import { findBot, listAllBots } from '../find-bot.ts'
import type { BundledCode } from './bundle-code.ts'
import type { Bundle, Bundler } from './bundle.ts'
import { checkTypes } from './check-types.ts'
import type { Problem } from './code-frame.ts'
import { uploadIntegration, type BundledIntegration } from './own-integration.ts'
import { planDeployment, type DeploymentPlan } from './plan-deployment.ts'
import { rememberBot, type Project } from './project.ts'

export interface DeployOptions {
  /** Whether to check the types; a type error prevents the deployment. */
  checksTypes: boolean
  /** Id or name of the bot to deploy to; by default the bot of the project's earlier deployment. */
  bot?: string | undefined
  /** Hosts that the bot may reach; replaces the list in the project's settings. */
  net?: string[] | undefined
  /** Description of the changes. */
  note?: string | undefined
  /** Whether code without hooks may replace a version that has hooks. */
  allowsNoHooks?: boolean | undefined
  /** Whether flows may lack nodes at which conversations wait. Default: true. */
  allowsRemovedNodes?: boolean | undefined
  /** The nodes in the place of removed ones, each as `flow/node`. */
  renamed?: Record<string, string> | undefined
  signal?: AbortSignal
  /** The deployed bundle; an equal one is not deployed again. */
  inService?: Bundle | undefined
  /** Receives the difference to what is in service before it is applied; false prevents the deployment. */
  onPlan?: (plan: DeploymentPlan) => boolean
  /** Whether the source has changed since it was read: it is not deployed then, because a file may be incomplete. */
  isStale?: () => boolean
}

export interface RemovedNode {
  flow: string
  node: string
  conversations: number
}

export interface Deployed {
  bot: Bot
  /** The removed nodes at which conversations wait; absent without any. */
  removedNodes?: RemovedNode[]
  /** Warnings about the code, and about integrations of the project; absent when there are none. */
  warnings?: string[]
  bundle: Bundle
  isNew: boolean
  /** Whether the types were checked; a check needs a compiler and a tsconfig.json. */
  checkedTypes: boolean
  /** Elapsed milliseconds: in total, and for bundling and type check. */
  milliseconds: { all: number; preparing: number }
}

/** A source with problems. */
export interface NotDeployed {
  problems: Problem[]
  /** Integrations that were changed before the problems were found. */
  changed?: string[]
}

/**
 * Bundles a project, checks its types and deploys it, as a new bot the first time.
 *
 * @returns the deployed bot, or the problems of the source, in which case the deployed version stays; undefined when
 *   there is nothing to deploy, or when `onPlan` prevents it
 * @throws Failure when the deployment fails for other reasons
 */
export async function deployProject(
  project: Project,
  connection: Connection,
  bundler: Bundler,
  options: DeployOptions,
): Promise<Deployed | NotDeployed | undefined> {
  const started = performance.now()
  const [bundled, problems] = await Promise.all([
    bundler.bundle(),
    options.checksTypes ? checkTypes(project, options.signal) : undefined,
  ])
  if (options.isStale?.()) return undefined
  // The compiler would report the bundler's problems once more.
  if ('problems' in bundled) return bundled
  if (problems && problems.length > 0) return { problems }
  const { bundle } = bundled
  if (isDeepStrictEqual(bundle, options.inService)) return undefined
  const prepared = performance.now()
  const uploaded = await upload(project, connection, bundle, options)
  if (!uploaded || 'problems' in uploaded) return uploaded
  await rememberBot(project, connection.profile.url, uploaded.bot.id)
  const since = (time: number) => Math.round(time - started)
  return {
    ...uploaded,
    bundle,
    checkedTypes: problems !== undefined,
    milliseconds: { all: since(performance.now()), preparing: since(prepared) },
  }
}

async function upload(
  project: Project,
  connection: Connection,
  bundle: Bundle,
  { bot, net, note, allowsNoHooks = false, allowsRemovedNodes = true, renamed, signal, onPlan }: DeployOptions,
): Promise<Pick<Deployed, 'bot' | 'isNew' | 'removedNodes' | 'warnings'> | NotDeployed | undefined> {
  const id = bot === undefined ? project.settings.bots?.[connection.profile.url] : (await findBot(connection, bot)).id
  const declared = net ? { ...project.settings, permissions: { net } } : project.settings
  const plan = await planDeployment(connection, declared, bundle, { id, comparesCode: onPlan !== undefined })
  if (onPlan?.(plan) === false) return undefined
  // A refusal that needs no upload comes before integrations are changed.
  if (id === undefined) await assertNameIsFree(connection, project)
  const { problems, warnings, changed } = await applyIntegrations(connection, plan, project, signal)
  if (problems) return { problems, changed }
  const body = { ...toBody(bundle), ...(note !== undefined && { note }), ...plan.fields }
  const request = { body, ...(signal && { signal }) }
  const withWarnings = (deployed: Updated): Updated => {
    const all = [...warnings, ...(deployed.warnings ?? [])]
    return all.length > 0 ? { ...deployed, warnings: all } : deployed
  }
  try {
    const allowed = {
      allowNoHooks: allowsNoHooks,
      ...(!allowsRemovedNodes && { allowRemovedNodes: false }),
      ...(renamed && { renamed }),
    }
    const updated = id === undefined ? undefined : await updateBot(connection, id, request, allowed)
    if (updated) return { ...withWarnings(updated), isNew: false }
    if (id !== undefined) await assertNameIsFree(connection, project)
    const named = { ...request, body: { ...body, name: project.settings.name } }
    if (body.flows.length === 0) delete (named.body as Partial<typeof body>).flows
    const created = await connection.ask<'createBot'>('POST', '/v1/admin/bots', named)
    return { ...withWarnings(created), isNew: true }
  } catch (error) {
    const problem = toProblem(error, bundle, project)
    if (problem) return { problems: [problem], changed }
    throw withChanged(lossOf(error) ?? error, changed)
  }
}

interface AppliedIntegrations {
  warnings: string[]
  /** The integrations, and the hosts of integrations, that are others than before, in words. */
  changed: string[]
  /** The problems of a source, after which no further integration is applied. */
  problems?: Problem[]
}

/** Grants hosts, and uploads the integrations of the project, whose ids the plan's installations get. */
async function applyIntegrations(
  connection: Connection,
  { grants, uploads, fields }: DeploymentPlan,
  project: Project,
  signal: AbortSignal | undefined,
): Promise<AppliedIntegrations> {
  const applied: AppliedIntegrations = { warnings: [], changed: [] }
  try {
    for (const { id, name, net } of grants) {
      await connection.ask('PUT', `/v1/admin/integrations/${id}`, { body: { permissions: { net } } })
      applied.changed.push(`the hosts of ${name}`)
    }
    for (const { aliases, integration, id: present, net, differs } of uploads) {
      const uploaded = await uploadOwn(connection, integration, { id: present, net, signal }, project)
      if ('problems' in uploaded) return { ...applied, problems: uploaded.problems }
      applied.warnings.push(...uploaded.warnings)
      const { name, version } = integration.definition
      if (differs) applied.changed.push(`the integration ${name}@${version}`)
      const installations = (fields['integrations'] ?? {}) as Record<string, object>
      for (const alias of aliases) {
        const installation = installations[alias]
        if (installation) Object.assign(installation, { integrationId: uploaded.id })
      }
    }
    return applied
  } catch (error) {
    throw withChanged(error, applied.changed)
  }
}

/** The failure of a deployment that has changed integrations before, and names them. */
function withChanged(error: unknown, changed: string[]): unknown {
  if (!(error instanceof Failure) || changed.length === 0) return error
  const { exitCode, message, type, details } = error
  return new Failure(exitCode, `${message}. ${describeChanged(changed)}`, {
    cause: error,
    ...(type !== undefined && { type }),
    details: { ...details, changed },
  })
}

/** Integrations are changed before the bot, whose code may need them. */
export function describeChanged(changed: readonly string[]): string {
  return `Changed before, and still so: ${changed.join(', ')}`
}

/** @returns the id of the integration and warnings about it, or the problem of its source */
async function uploadOwn(
  connection: Connection,
  integration: BundledIntegration,
  options: Parameters<typeof uploadIntegration>[2],
  project: Project,
): Promise<Awaited<ReturnType<typeof uploadIntegration>> | { problems: Problem[] }> {
  try {
    return await uploadIntegration(connection, integration, options)
  } catch (error) {
    const problem = toProblem(error, integration, project)
    if (problem) return { problems: [problem] }
    throw error
  }
}

/** An upload without flows removes those that were deployed; the flows of code may have layouts. */
function toBody({ code, sourceMap, flows = [], layouts = {} }: Bundle) {
  const hasLayouts = flows.length > 0 || Object.keys(layouts).length > 0
  return { code, ...(sourceMap !== '' && { sourceMap }), flows, ...(hasLayouts && { layouts }) }
}

type Updated = Pick<Deployed, 'bot' | 'removedNodes' | 'warnings'>

/** @returns undefined when the platform does not have the bot: it was deleted, or the address has another platform */
async function updateBot(
  connection: Connection,
  id: string,
  request: { body: object; signal?: AbortSignal },
  allowed: object,
): Promise<Updated | undefined> {
  const update = async (body: Record<string, unknown>): Promise<Updated> => {
    try {
      return await connection.ask<'updateBot'>('PUT', `/v1/admin/bots/${id}`, { ...request, body })
    } catch (error) {
      // Earlier versions of the platform do not have the field: neither the checks nor flows that could be removed.
      const unknown = Object.keys(body).find(
        (field) => isDispensable(field, body[field]) && (error as Error).message.includes(`field '${field}'`),
      )
      if (!(error instanceof Failure) || unknown === undefined) throw error
      const { [unknown]: _unknown, ...others } = body
      return update(others)
    }
  }
  try {
    return await update({ ...request.body, ...allowed })
  } catch (error) {
    if (error instanceof Failure && error.type === 'ResourceNotFound') return undefined
    throw error
  }
}

function isDispensable(field: string, value: unknown): boolean {
  return (
    field === 'allowNoHooks' ||
    field === 'allowRemovedNodes' ||
    (field === 'flows' && Array.isArray(value) && value.length === 0)
  )
}

/**
 * The failure for a refused deployment of code without hooks, or of flows without nodes at which conversations wait;
 * undefined for other errors.
 */
function lossOf(error: unknown): Failure | undefined {
  if (!(error instanceof Failure) || error.type !== 'BreakingChanges') return undefined
  const {
    hooks = [],
    actions = [],
    nodes,
  } = (error.details?.['metadata'] ?? {}) as { hooks?: string[]; actions?: string[]; nodes?: RemovedNode[] }
  if (nodes) {
    const removed = listNodes(nodes)
    return failed(
      `Conversations wait at nodes that the project does not have: ${removed}. The deployed version stays. Name the ` +
        'nodes in their place with `--renamed flow/node=flow/node`, or use `isobot deploy --yes`',
      { cause: error, type: error.type, details: { ...error.details, removed } },
    )
  }
  const lost = [...hooks, ...actions.map((action) => `the action ${action}`)].join(', ')
  return failed(
    `The project has no hooks, and would replace a version that has ${lost}. That version stays deployed. ` +
      'To deploy the project anyway, use `isobot deploy --yes`',
    { cause: error, type: error.type, details: { ...error.details, lost } },
  )
}

/** For instance `main/ask (12), main/size (1)`. */
export function listNodes(nodes: RemovedNode[]): string {
  const listed = nodes.slice(0, 5).map(({ flow, node, conversations }) => `${flow}/${node} (${conversations})`)
  return listed.join(', ') + (nodes.length > listed.length ? ` and ${nodes.length - listed.length} more` : '')
}

async function assertNameIsFree(connection: Connection, { settings: { name } }: Project): Promise<void> {
  const [present] = (await listAllBots(connection)).filter((bot) => bot.name === name)
  if (!present) return
  throw misused(
    `The workspace has a bot "${name}" (${present.id}) that was not deployed from here: deploy to it with --bot ${present.id}, ` +
      'or create another bot with another "name" in isobot.json',
  )
}

/** The platform's error about the flows, or about the code, with a position in the bundle mapped to the author's files. */
function toProblem(error: unknown, { sourceMap }: BundledCode, { settings }: Project): Problem | undefined {
  if (!(error instanceof Failure)) return undefined
  const { file, line, column, flow } = (error.details?.['metadata'] ?? {}) as {
    file?: string
    line?: number
    column?: number
    flow?: string
  }
  if (flow !== undefined) return { message: error.message }
  if (file === undefined) return undefined
  const words = error.message.replace(/^\S+:\d+:\d+: /, '')
  const message = withRemedy(words.startsWith(`${file}: `) ? words.slice(`${file}: `.length) : words, settings)
  if (line === undefined || column === undefined) return { message }
  const map = file === sourceFile ? indexSourceMap(sourceMap) : undefined
  const source = map && findSource(map, { line, column })
  return { ...(source ?? { file, line, column }), message }
}

/** Globals of pages, which isolates do not have. Some packages need them in their form for browsers. */
const needsPage = /^ReferenceError: (?:window|document|self|location|XMLHttpRequest|HTMLElement) is not defined/

function withRemedy(message: string, { packages }: Project['settings']): string {
  if (packages === 'node' || !needsPage.test(message)) return message
  return `${message}: if a package needs it, take packages in their form for Node, with "packages": "node" in isobot.json`
}
