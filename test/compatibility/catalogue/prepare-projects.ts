import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, glob, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { AnyProject } from '../../../cli/hub/deploy-project.ts'

const run = promisify(execFile)

/** The kinds of projects of the public repository, in the order in which later ones need earlier ones. */
export const kinds = ['interfaces', 'integrations', 'plugins', 'bots'] as const
export type Kind = (typeof kinds)[number]

/** An integration that the platform itself has; that of the repository needs a package that is not published. */
const builtIn = 'chat'

/** A project in a copy of the checkout. */
export type Project = AnyProject & { kind: Kind }

interface Manifest {
  module?: string
  dependencies?: Record<string, string>
  scripts?: Record<string, string>
  bpDependencies?: Record<string, string>
}

/** Packages of the repository that projects import and that are not published, or not in this version. */
const ownPackages = {
  common: '@botpress/common',
  'sdk-addons': '@botpress/sdk-addons',
  cognitive: '@botpress/cognitive',
}
const own = new Set<string>(Object.values(ownPackages))

/**
 * Copies the projects of a checkout and installs the modules that they import: one version of each for all projects, and
 * another one for a project that asks for another major version.
 *
 * @param source the checkout, which is not changed
 * @param folder below the one of the command line, whose modules projects find above theirs; a later call finds it again
 */
export async function prepareProjects(source: string, folder: string): Promise<Project[]> {
  const projects: Project[] = []
  for (const kind of kinds) {
    for (const name of await readdir(join(source, kind))) {
      const isProject = existsSync(join(source, kind, name, 'package.json')) && name !== builtIn
      if (isProject) projects.push({ kind, name, folder: join(folder, kind, name) })
    }
  }
  const mark = join(folder, 'prepared')
  const state = await stateOf(source)
  if ((await readFile(mark, 'utf8').catch(() => '')) === state) return projects
  await rm(folder, { recursive: true, force: true })
  for (const kind of kinds) await cp(join(source, kind), join(folder, kind), { recursive: true })
  for (const name of Object.keys(ownPackages)) {
    const target = join(folder, 'packages', name)
    await cp(join(source, 'packages', name), target, { recursive: true })
    // The build of a project takes their sources.
    const { module: _module, ...manifest } = await manifestOf(target)
    await writeFile(join(target, 'package.json'), JSON.stringify({ ...manifest, main: './src/index.ts' }))
  }
  await installModules(folder, projects)
  for (const project of projects) await useBuiltIn(project)
  await writeFile(mark, state)
  return projects
}

/** A hash that differs when a file of the projects does. */
async function stateOf(source: string): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of [...kinds, ...Object.keys(ownPackages).map((name) => join('packages', name))]) {
    const paths = await Array.fromAsync(glob('**/*', { cwd: join(source, folder) }))
    for (const path of paths.toSorted()) {
      const { size, mtimeMs } = await stat(join(source, folder, path))
      hash.update(`${folder}/${path} ${size} ${mtimeMs}\n`)
    }
  }
  return hash.digest('hex')
}

async function installModules(folder: string, projects: Project[]): Promise<void> {
  const folders = [
    ...projects.map((one) => one.folder),
    ...Object.keys(ownPackages).map((name) => join(folder, 'packages', name)),
  ]
  const wanted = await Promise.all(folders.map(async (path) => ({ path, dependencies: await publishedOf(path) })))
  const ranges = new Map<string, string[]>()
  for (const { dependencies } of wanted) {
    for (const [name, range] of Object.entries(dependencies)) ranges.set(name, [...(ranges.get(name) ?? []), range])
  }
  const common = new Map([...ranges].map(([name, all]) => [name, mostFrequentMajor(all)]))
  await install(folder, Object.fromEntries(Array.from(common, ([name, { range }]) => [name, range])))
  const root = join(folder, 'node_modules')
  for (const [name, published] of Object.entries(ownPackages)) {
    await mkdir(dirname(join(root, published)), { recursive: true })
    await symlink(join(folder, 'packages', name), join(root, published))
  }
  for (const { path, dependencies } of wanted) {
    const others = Object.entries(dependencies).filter(([name, range]) => majorOf(range) !== common.get(name)!.major)
    if (others.length === 0) continue
    const aside = join(path, '.others')
    await mkdir(aside)
    await install(aside, Object.fromEntries(others))
    await symlink(join(aside, 'node_modules'), join(path, 'node_modules'))
  }
}

/** The dependencies of a project that are published, by name. */
async function publishedOf(path: string): Promise<Record<string, string>> {
  const { dependencies = {} } = await manifestOf(path)
  return Object.fromEntries(
    Object.entries(dependencies).filter(([name, range]) => !own.has(name) && !range.startsWith('workspace:')),
  )
}

async function manifestOf(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(path, 'package.json'), 'utf8')) as Manifest
}

/** The major version for which most projects ask, and the highest of their ranges. */
function mostFrequentMajor(ranges: string[]): { major: string; range: string } {
  const byMajor = Map.groupBy(ranges, majorOf)
  const [major = '', all = []] = [...byMajor].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? []
  const [range = ''] = all.toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }))
  return { major, range }
}

function majorOf(range: string): string {
  return /\d+/.exec(range)?.[0] ?? range
}

async function install(folder: string, dependencies: Record<string, string>): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...options], { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
}

/** Projects depend on the folder of the built-in integration; the platform has it under the same name. */
async function useBuiltIn({ folder }: Project): Promise<void> {
  const manifest = await manifestOf(folder)
  if (manifest.bpDependencies?.[builtIn] === undefined) return
  const bpDependencies = { ...manifest.bpDependencies, [builtIn]: `integration:${builtIn}@1.0.0` }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, bpDependencies }))
}
