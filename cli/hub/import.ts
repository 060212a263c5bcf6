import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { failed, misused } from '../failure.ts'
import type { Connection } from '../connection.ts'
import { openBp, type Bp } from './bp.ts'
import { deployProject, type Deployed, type DeployOptions } from './deploy-project.ts'
import { findProjects, type Project } from './projects.ts'
import { installDependencies, missingWorkspacePackages, openSource, type Source } from './source.ts'

export interface ImportOptions extends Pick<DeployOptions, 'secrets'> {
  /** The script of `bp`; otherwise that of the source's dependencies, or of the working directory's. */
  bp?: string | undefined
  /** Builds everything and publishes nothing. */
  isDryRun?: boolean | undefined
  /** Called before each project. */
  onProject?: (project: Project) => void
}

/** The outcome for a project. */
export interface ImportedItem {
  kind: 'interface' | 'integration' | 'plugin'
  /** The path of its folder within the source. */
  folder: string
  /** The uploaded definition. */
  name?: string
  version?: string
  status: 'published' | 'built' | 'refused'
  /** Why it was refused. */
  problem?: string
  /** The size of its bundle in bytes; 0 without one. */
  bytes: number
  /** Hosts of addresses that stand in its bundle: a hint only. */
  literalHosts: string[]
}

const singular = { interfaces: 'interface', integrations: 'integration', plugins: 'plugin' } as const

/**
 * Builds the interfaces, integrations and plugins of a source with `bp`, and publishes them within the platform. A project that
 * is refused does not keep the others from being published.
 *
 * @param given a folder, a .tgz or the name of an npm package
 * @throws Failure when the source has no project, or there is no `bp`
 */
export async function importProjects(
  given: string,
  connection: Connection,
  { bp: named, isDryRun = false, secrets = {}, onProject }: ImportOptions = {},
): Promise<ImportedItem[]> {
  const temporary = await mkdtemp(join(await realpath(tmpdir()), 'isobot-hub-'))
  try {
    const source = await openSource(given, temporary)
    const projects = await findProjects(source.folder)
    if (projects.length === 0) {
      throw failed(
        `${given} has no project: a folder with integration.definition.ts, interface.definition.ts or plugin.definition.ts`,
      )
    }
    const home = join(temporary, 'home')
    await mkdir(home)
    const open = openerOf(connection.profile, home)
    const items: ImportedItem[] = []
    for (const project of projects) {
      onProject?.(project)
      const deployed = await importProject(project, source, {
        open: () => open(named ?? findBp(project.folder)),
        options: { secrets, isDryRun },
        connection,
      })
      items.push(toItem(project, deployed, isDryRun))
    }
    return items
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Logs each program in once. */
function openerOf(profile: Connection['profile'], home: string): (script: string) => Promise<Bp> {
  const opened = new Map<string, Promise<Bp>>()
  return (script) => {
    const bp = opened.get(script) ?? openBp(script, profile, home)
    opened.set(script, bp)
    return bp
  }
}

async function importProject(
  project: Project,
  { isUnpacked }: Source,
  { open, options, connection }: { open: () => Promise<Bp>; options: DeployOptions; connection: Connection },
): Promise<Deployed> {
  const problem = isUnpacked ? await installDependencies(project.folder) : ''
  if (problem !== '') return { problem, bytes: 0, literalHosts: [] }
  const bp = await open()
  const deployed = await deployProject(bp, project, options).catch((error: unknown) => ({
    problem: messageOf(error),
    bytes: 0,
    literalHosts: [],
  }))
  if (deployed.problem !== '' && deployed.bytes === 0) {
    const missing = await missingWorkspacePackages(project.folder)
    if (missing !== '') return { ...deployed, problem: `${deployed.problem}; ${missing}` }
  }
  if (bp.setsVisibility || !('uploaded' in deployed) || !deployed.uploaded) return deployed
  try {
    await publish(connection, deployed.uploaded)
    return deployed
  } catch (error) {
    return { ...deployed, problem: messageOf(error) }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Makes an integration public that a version of `bp` has uploaded which cannot. */
async function publish({ ask }: Connection, { name, version }: { name: string; version: string }): Promise<void> {
  const path = [name, version].map(encodeURIComponent).join('/')
  const { integration } = await ask<'getIntegrationByName'>('GET', `/v1/admin/integrations/${path}`)
  await ask('PUT', `/v1/admin/integrations/${integration.id}`, { body: { visibility: 'public' } })
}

function toItem(
  { kind, name: folder }: Project,
  { problem, uploaded, ...built }: Deployed,
  isDryRun: boolean,
): ImportedItem {
  const item = { kind: singular[kind], folder, ...uploaded, ...built }
  if (problem !== '') return { ...item, status: 'refused', problem }
  return { ...item, status: isDryRun ? 'built' : 'published' }
}

/** The `bp` of a project's dependencies, or of those of the working directory. @throws Failure without one */
function findBp(folder: string): string {
  for (const start of [folder, process.cwd()]) {
    for (let each = resolve(start); ; each = dirname(each)) {
      const script = join(each, 'node_modules', '@botpress', 'cli', 'bin.js')
      if (existsSync(script)) return script
      if (dirname(each) === each) break
    }
  }
  throw misused('There is no bp: install @botpress/cli beside the project, or name its program with --bp')
}
