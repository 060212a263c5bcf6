import { failed, type Failure } from '../failure.ts'
import { findBot } from '../find-bot.ts'
import type { Connection } from '../connection.ts'
import { openBundler, type Bundle } from '../project/bundle.ts'
import { showProblems, type Problem } from '../project/code-frame.ts'
import { openIntegrationBundler, type BundledIntegration } from '../project/own-integration.ts'
import { isFile, isFolder, looseProject, openProject, type Project } from '../project/project.ts'

/**
 * Finds code by name: a project by its folder, a module by its file, or a deployed bot by its id or name.
 *
 * @throws Failure when there is no such code, or it cannot be bundled
 */
export async function findCode(named: string, connect: () => Promise<Connection>): Promise<Bundle> {
  if (await isFolder(named)) return bundleOnce(await openProject(named))
  if (await isFile(named)) return bundleOnce(looseProject(named))
  const connection = await connect()
  const bot = await findBot(connection, named)
  if (!bot.version) throw failed(`The bot "${bot.name}" has no code: deploy code with \`isobot deploy\``)
  if (bot.version.kind === 'sdk') {
    throw failed(`The bot "${bot.name}" is a bundle of the public SDK, whose hooks cannot be run separately`)
  }
  const path = `/v1/admin/bots/${bot.id}/versions/${bot.version.id}`
  const { version } = await connection.ask<'getBotVersion'>('GET', path)
  return { code: version.code, sourceMap: '', flows: version.flows ?? [], hasFlowsOfCode: true }
}

/** @throws Failure with the problems of the source */
export async function bundleOnce(project: Project): Promise<Bundle> {
  await using bundler = await openBundler(project)
  const bundled = await bundler.bundle()
  if ('bundle' in bundled) return bundled.bundle
  throw await notBundled('bot', project.folder, bundled.problems)
}

/**
 * Bundles an integration of a project.
 *
 * @param name its folder, relative to that of the project
 * @throws Failure with the problems of the source
 */
export async function bundleIntegration(project: Project, name: string): Promise<BundledIntegration> {
  await using bundler = await openIntegrationBundler(project, name)
  const bundled = await bundler.bundle()
  if ('code' in bundled) return bundled
  throw await notBundled('integration', project.folder, bundled.problems)
}

async function notBundled(kind: string, folder: string, problems: Problem[]): Promise<Failure> {
  return failed(`The ${kind} cannot be bundled:\n\n${await showProblems(folder, problems)}`, { details: { problems } })
}
