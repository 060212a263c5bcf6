import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { connect, type Connection } from '../../../cli/connection.ts'
import { openBp } from '../../../cli/hub/bp.ts'
import { deployProject, type Deployed } from '../../../cli/hub/deploy-project.ts'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { buildCli } from '../cli/build-cli.ts'
import { writeMeasured } from '../write-measured.ts'
import { writeEnvironment } from './environment.ts'
import { kinds, prepareProjects, type Kind, type Project } from './prepare-projects.ts'
import { describe, tableOf, type Row } from './table.ts'
import { tryIntegration, type Trial } from './try-integration.ts'

export interface CatalogueOptions {
  /** Whether to write the table into the documentation too. */
  writes: boolean
  /** Deploys projects of these kinds only, with what they depend on. */
  only: readonly Kind[]
}

/**
 * Deploys every interface, integration, plugin and bot of a checkout of the public repository to a platform of its own, with
 * default limits and unmodified, installs each integration on a bot, and prints a table.
 */
export async function measureCatalogue(source: string, { writes, only }: CatalogueOptions): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const build = process.env['BP_BUILD_DIR'] ?? join(homedir(), '.cache', 'isobot-bp')
  const cli = await buildCli(source, build)
  const projects = await chooseProjects(await prepareProjects(source, join(build, 'catalogue')), only)
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-catalogue-')), (path) =>
    rm(path, { recursive: true }),
  )
  const platform = await openOwnPlatform(join(folder, 'data'), parts)
  const home = join(folder, 'home')
  await mkdir(home)
  const bp = await openBp(cli.script, platform, home)
  const api = await connect({ name: 'catalogue', ...platform })
  const rows: Row[] = []
  for (const project of projects) {
    await writeEnvironment(project, api)
    const deployed: Deployed = await deployProject(bp, project, { otherSecrets: 'none' })
    const row: Row = { project, ...deployed }
    const isTried = project.kind === 'integrations' && row.problem === '' && isChosen(project, only)
    if (isTried) Object.assign(row, { trial: await tryDeployed(api, project) })
    rows.push(row)
    console.log(`${project.kind}/${project.name}: ${describe(row)}`)
  }
  const lines = tableOf(cli.version, rows)
  console.log(lines.join('\n'))
  if (writes) await writeMeasured('catalogue.md', lines)
}

function isChosen({ kind }: Project, only: readonly Kind[]): boolean {
  return only.length === 0 || only.includes(kind)
}

/** Projects of some kinds, and all interfaces, and what the projects depend on, in the order of kinds. */
async function chooseProjects(all: Project[], only: readonly Kind[]): Promise<Project[]> {
  const chosen = new Set<Project>()
  async function choose(project: Project): Promise<void> {
    if (chosen.has(project)) return
    chosen.add(project)
    const text = await readFile(join(project.folder, 'package.json'), 'utf8')
    const { bpDependencies = {} } = JSON.parse(text) as { bpDependencies?: Record<string, string> }
    for (const path of Object.values(bpDependencies)) {
      const needed = all.find(({ kind, name }) => name === basename(path) && path.includes(`/${kind}/`))
      if (needed) await choose(needed)
    }
  }
  for (const project of all) if (project.kind === 'interfaces' || isChosen(project, only)) await choose(project)
  return kinds.flatMap((kind) => all.filter((project) => project.kind === kind && chosen.has(project)))
}

/** The trial of the integration that was deployed last under the name of a project. */
async function tryDeployed(api: Connection, { name }: Project): Promise<Trial | undefined> {
  const { integrations } = await api.ask<'listIntegrations'>('GET', '/v1/admin/integrations', {
    query: { pageSize: 1 },
  })
  const [newest] = integrations
  if (!newest) return undefined
  return tryIntegration(api, newest.id).catch((error: unknown) => ({
    registered: false,
    reason: `${name}: ${(error as Error).message.split('\n', 1)[0]}`,
    milliseconds: 0,
    handled: false,
    askedHosts: [],
  }))
}
