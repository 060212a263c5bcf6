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
  const declared = await secretsOf(folder)
  for (const { name } of declared) {
    const value = secrets[name] ?? otherSecrets
    if (value !== undefined) options.push('--secrets', `${name}=${value}`)
  }
  const { exitCode, output } = await bp.run(folder, 'deploy', ...options)
  if (exitCode !== 0) {
    const problem = problemIn(output)
    const required = requiredSecrets(problem, declared, secrets)
    const remedy = required.length > 0 ? `: give ${listed(required)} with --secret <name>=<value>` : ''
    return { ...built, problem: `bp deploy: ${problem}${remedy}` }
  }
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

interface DeclaredSecret {
  name: string
  isRequired: boolean
}

/** A project's secrets in the order of its definition. Its build has written them as getters. */
async function secretsOf(folder: string): Promise<DeclaredSecret[]> {
  const text = await readFile(join(folder, '.botpress', 'secrets', 'index.ts'), 'utf8').catch(() => '')
  return Array.from(text.matchAll(/public get (\w+)\(\): (.*) \{/g), ([, name, type]) => ({
    name: name!,
    isRequired: type === 'string',
  }))
}

/**
 * The secrets that a refused deployment still requires. `bp` names the first one only, and asks in the order of the
 * definition; it takes secrets that the platform already has as given.
 */
function requiredSecrets(
  problem: string,
  declared: DeclaredSecret[],
  given: Readonly<Record<string, string>>,
): string[] {
  const [, first] = /^Secret "(\w+)" is required$/.exec(problem) ?? []
  const names = declared.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  if (first === undefined || !names.includes(first)) return []
  return names.slice(names.indexOf(first)).filter((name) => !Object.hasOwn(given, name))
}

const listed = (names: string[]) => new Intl.ListFormat('en', { type: 'conjunction' }).format(names)
