import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Connection } from '../../../cli/connection.ts'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { buildCli } from '../cli/build-cli.ts'
import { writeMeasured } from '../write-measured.ts'
import { openDeployer, type Deployed } from './deploy-project.ts'
import { kinds, prepareProjects, type Kind, type Project } from './prepare-projects.ts'
import { tryIntegration, type Trial } from './try-integration.ts'

/** The outcome for one project. */
interface Row extends Deployed {
  project: Project
  /** Of an integration that was deployed. */
  trial?: Trial
}

/**
 * Deploys every interface, integration, plugin and bot of a checkout of the public repository to a platform of its own, with
 * default limits and unmodified, installs each integration on a bot, and prints a table.
 *
 * @param writes whether to write the table into the documentation too
 */
export async function measureCatalogue(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const build = process.env['BP_BUILD_DIR'] ?? join(homedir(), '.cache', 'isobot-bp')
  const cli = await buildCli(source, build)
  const projects = await prepareProjects(source, join(build, 'catalogue'))
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-catalogue-')), (path) =>
    rm(path, { recursive: true }),
  )
  const platform = await openOwnPlatform(join(folder, 'data'), parts)
  const home = join(folder, 'home')
  await mkdir(home)
  const deployer = openDeployer(cli, platform, home)
  await deployer.logIn()
  const api = await connect({ name: 'catalogue', ...platform })
  const rows: Row[] = []
  for (const kind of kinds) {
    for (const project of projects.filter((one) => one.kind === kind)) {
      const row: Row = { project, ...(await deployer.deploy(project)) }
      if (kind === 'integrations' && row.problem === '') Object.assign(row, { trial: await tryDeployed(api, project) })
      rows.push(row)
      console.log(`${kind}/${project.name}: ${describe(row)}`)
    }
  }
  const lines = tableOf(cli.version, rows)
  console.log(lines.join('\n'))
  if (writes) await writeMeasured('catalogue.md', lines)
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
  }))
}

function describe({ problem, trial }: Row): string {
  if (problem !== '') return problem
  if (!trial) return 'deployed'
  const registration = trial.registered ? 'registers' : `does not register: ${trial.reason}`
  return `deployed; ${registration}; its handler ${trial.handled ? 'runs' : 'does not run'}`
}

function tableOf(version: string, rows: Row[]): string[] {
  const of = (kind: Kind) => rows.filter(({ project }) => project.kind === kind)
  const deployed = (kind: Kind) => `${of(kind).filter(({ problem }) => problem === '').length} of ${of(kind).length}`
  const tried = of('integrations').flatMap(({ trial }) => trial ?? [])
  const table = [
    '| Project | Bundle | Deployed | `register` | Handler | First start |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(({ project, bytes, problem, trial }) => {
      const size = bytes > 0 ? `${(bytes / 1e6).toFixed(1)} MB` : '–'
      const cells = trial
        ? [
            trial.registered ? 'yes' : inCell(trial.reason),
            trial.handled ? 'runs' : 'no',
            `${Math.round(trial.milliseconds)} ms`,
          ]
        : ['–', '–', '–']
      return `| ${project.kind}/${project.name} | ${size} | ${problem === '' ? 'yes' : inCell(problem)} | ${cells.join(' | ')} |`
    }),
  ]
  return [
    `${new Date().toISOString().slice(0, 10)}, \`bp\` ${version}: ${kinds.map((kind) => `${deployed(kind)} ${kind}`).join(', ')} ` +
      `are deployed as they are. Of the integrations, ${tried.filter(({ registered }) => registered).length} register with ` +
      `values of no account, and the handler of ${tried.filter(({ handled }) => handled).length} runs.`,
    '',
    ...table,
  ]
}

/** A text in a cell of a table. */
function inCell(text: string): string {
  return text.replaceAll(/[|`\n\r]/g, ' ').slice(0, 160)
}
