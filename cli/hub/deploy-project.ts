import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { problemIn, type Bp } from './bp.ts'
import { literalHostsIn } from './literal-hosts.ts'
import type { Project } from './projects.ts'

/** A project of any kind: bots are deployed, not published. */
export type AnyProject = Project<Project['kind'] | 'bots'>

/** The outcome for a project. */
export interface Deployed {
  /** Why the command line or the platform refused it; empty when it was deployed. */
  problem: string
  /** The size of its bundle in bytes; 0 without one. */
  bytes: number
  /** The hosts of addresses in its bundle: a hint only. */
  literalHosts: string[]
  /** The name and the version under which it was uploaded. */
  uploaded?: { name: string; version: string }
}

export interface DeployOptions {
  /** Values of secrets that the project declares, by name; `otherSecrets` is the value of those without one. */
  secrets?: Readonly<Record<string, string>>
  otherSecrets?: string
  /** Builds the project and deploys nothing. */
  isDryRun?: boolean
}

/** Adds the dependencies of a project, builds it and deploys it, with the command line that built it for its publisher. */
export async function deployProject(
  bp: Bp,
  { kind, folder }: AnyProject,
  { secrets = {}, otherSecrets, isDryRun = false }: DeployOptions = {},
): Promise<Deployed> {
  const steps = (await hasDependencies(folder)) ? ['add'] : []
  // Interfaces have no code.
  if (kind !== 'interfaces') steps.push('build')
  for (const step of steps) {
    const { exitCode, output } = await bp.run(folder, step)
    if (exitCode !== 0) return { problem: `bp ${step}: ${problemIn(output)}`, bytes: 0, literalHosts: [] }
  }
  const code = await readBundle(folder)
  const built: Deployed = { problem: '', bytes: Buffer.byteLength(code), literalHosts: literalHostsIn(code) }
  if (isDryRun) return built
  const options = kind === 'bots' ? ['--create-new-bot'] : bp.setsVisibility ? ['--visibility', 'public'] : []
  if (kind === 'integrations') options.push('--allow-deprecated')
  if (kind !== 'interfaces') options.push('--noBuild')
  for (const name of await secretsOf(folder)) {
    const value = secrets[name] ?? otherSecrets
    if (value !== undefined) options.push('--secrets', `${name}=${value}`)
  }
  const { exitCode, output } = await bp.run(folder, 'deploy', ...options)
  if (exitCode !== 0) return { ...built, problem: `bp deploy: ${problemIn(output)}` }
  const [, name, version] = /Deploying \w+ (\S+) v(\d[\w.+-]*?)\.\.\./.exec(output) ?? []
  return name === undefined || version === undefined ? built : { ...built, uploaded: { name, version } }
}

/** The bundle of a build, whose name depends on the version of `bp`; empty without one. */
async function readBundle(folder: string): Promise<string> {
  const read = async (name: string) => readFile(join(folder, '.botpress', 'dist', name), 'utf8').catch(() => '')
  return (await read('index.cjs')) || read('index.js')
}

async function hasDependencies(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}')
  return Object.keys((JSON.parse(text) as { bpDependencies?: object }).bpDependencies ?? {}).length > 0
}

/** The names of a project's secrets, which its build has written as getters. */
async function secretsOf(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, '.botpress', 'secrets', 'index.ts'), 'utf8').catch(() => '')
  return Array.from(text.matchAll(/public get (\w+)\(/g), ([, name]) => name!)
}
