import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Connection } from '../../../cli/connection.ts'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { writeMeasured } from '../write-measured.ts'
import { buildProject } from './build-project.ts'
import { findProjects, type ThirdPartyProject } from './projects.ts'
import { SdkVersions, type SdkVersion } from './sdk-versions.ts'
import { tryProject, type ThirdPartyTrial } from './try-project.ts'

interface Row extends Partial<ThirdPartyTrial> {
  project: ThirdPartyProject
  sdk: string
  remarks: string[]
}

/**
 * Bundles each project of a folder against the nearest version of the SDK that the registry has, deploys it to a platform of
 * its own, and calls what works without the service behind it. No host is granted.
 *
 * @param source has a folder for each repository, named `owner+name`
 * @param writes whether to write the results into the documentation too
 */
export async function measureThirdParty(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-third-party-')), (path) =>
    rm(path, { recursive: true }),
  )
  const versions = new SdkVersions()
  const api = await connect({ name: 'third-party', ...(await openOwnPlatform(join(folder, 'data'), parts)) })
  const rows: Row[] = []
  const projects = (await findProjects(source)).entries()
  async function measureNext(): Promise<void> {
    for (const [index, project] of projects) {
      const copy = join(folder, String(index))
      const row = await measure(api, project, { version: await versions.nearest(project.wanted), copy })
      await rm(copy, { recursive: true, force: true })
      rows[index] = row
      console.log(lineOf(row))
    }
  }
  // The installation of one project goes on while another one is tried.
  await Promise.all([measureNext(), measureNext(), measureNext()])
  const lines = tableOf(rows)
  console.log(lines.join('\n'))
  if (writes) await writeMeasured('catalogue.md', lines, 'measured third parties')
}

async function measure(
  api: Connection,
  project: ThirdPartyProject,
  { version, copy }: { version: SdkVersion; copy: string },
): Promise<Row> {
  const { sdk, replaced } = version
  try {
    const built = await buildProject(project, version, copy)
    if (project.kind === 'plugin')
      return { project, sdk, loads: 'builds', remarks: ['runs in the bundle of a bot only'] }
    const trial = await tryProject(api, project, built)
    const left = built.left.map((name) => `without ${name}`)
    const others = Object.entries(replaced).map(([name, nearest]) => `with ${name.split('/')[1]!} ${nearest}`)
    return { project, sdk, ...trial, remarks: [...others, ...left, ...trial.remarks] }
  } catch (error) {
    return { project, sdk, loads: 'no', remarks: [(error as Error).message] }
  }
}

function tableOf(rows: Row[]): string[] {
  const loading = rows.filter(({ loads }) => loads !== 'no').length
  return [
    `${new Date().toISOString().slice(0, 10)}: ${loading} of ${rows.length} projects load.`,
    '',
    '| Project | SDK | Kind | Loads | `register` | Handler | Actions | Messages | Remark |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(lineOf),
  ]
}

function lineOf({ project, sdk, loads, register, handler, actions, messages, remarks }: Row): string {
  const version = project.wanted === sdk ? sdk : `${project.wanted || 'any'}, with ${sdk}`
  const cells = [project.name, version, project.kind, loads, register, handler, actions, messages]
  const remark = remarks
    .slice(0, 4)
    .join('; ')
    .replaceAll(/[|`<>\s]+/g, ' ')
    .slice(0, 300)
  return `| ${[...cells.map((cell) => cell || '–'), remark].join(' | ')} |`
}
