import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Connection } from '../../../cli/connection.ts'
import { deployProject, type DeployOptions } from '../../../cli/hub/deploy-project.ts'
import { openBp } from '../../../cli/hub/bp.ts'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { prepareProjects } from '../catalogue/prepare-projects.ts'
import { buildCli } from '../cli/build-cli.ts'
import { startStandIn, type StandIn, type Vendors } from './stand-in.ts'

/** A platform with integrations whose vendors are a stand-in on this machine. */
export interface PlatformWithVendors {
  api: Connection
  standIn: StandIn
  /** The version of the command line that built the integrations. */
  version: string
}

/**
 * Deploys integrations of a checkout of the public repository, unmodified, and all interfaces, to a platform of its own.
 *
 * @param source the checkout
 * @param names of the integrations
 * @param parts ends the platform and the stand-in
 */
export async function deployIntegrations(
  source: string,
  names: ReadonlySet<string>,
  { vendors, parts, ...options }: { vendors: Vendors; parts: AsyncDisposableStack } & DeployOptions,
): Promise<PlatformWithVendors> {
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-vendors-')), (path) => rm(path, { recursive: true }))
  const build = process.env['BP_BUILD_DIR'] ?? join(homedir(), '.cache', 'isobot-bp')
  const cli = await buildCli(source, build)
  const projects = await prepareProjects(source, join(build, 'catalogue'))
  const standIn = await startStandIn(vendors, folder, parts)
  const platform = await openOwnPlatform(join(folder, 'data'), parts, standIn.environment)
  const home = join(folder, 'home')
  await mkdir(home)
  const bp = await openBp(cli.script, platform, home)
  for (const project of projects) {
    const isNeeded = project.kind === 'interfaces' || (project.kind === 'integrations' && names.has(project.name))
    if (!isNeeded) continue
    const { problem } = await deployProject(bp, project, options)
    if (problem !== '') throw new Error(`${project.kind}/${project.name}: ${problem}`)
  }
  return { api: await connect({ name: 'compatibility', ...platform }), standIn, version: cli.version }
}
