import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export const kinds = ['integration', 'bot', 'plugin'] as const

/** A project of a third party, in a folder that is not changed. */
export interface ThirdPartyProject {
  /** The repository as `owner/name`, and the folder in it. */
  name: string
  kind: (typeof kinds)[number]
  folder: string
  /** The version of the SDK for which it was written. */
  wanted: string
  /** Other packages that it imports, with their ranges. */
  dependencies: Record<string, string>
}

/** Packages of the platform's publisher that come with the SDK, or that only its command line needs. */
export const ownPackages = /^@(?:botpress|bpinternal)\//

const isModule = (path: string) => path === 'node_modules' || path.endsWith('/node_modules')
export const compareVersions = (one: string, other: string) => one.localeCompare(other, 'en', { numeric: true })

/**
 * Finds the projects below a folder, in the order of their names.
 *
 * @param source has a folder for each repository, named `owner+name`
 */
export async function findProjects(source: string): Promise<ThirdPartyProject[]> {
  const projects: ThirdPartyProject[] = []
  for await (const path of glob('**/package.json', { cwd: source, exclude: isModule })) {
    const folder = join(source, dirname(path))
    const kind = kinds.find((each) => existsSync(join(folder, `${each}.definition.ts`)))
    if (!kind || !existsSync(join(folder, 'src', 'index.ts'))) continue
    const { dependencies = {}, devDependencies = {} } = JSON.parse(await readFile(join(source, path), 'utf8')) as {
      dependencies?: Record<string, string>
      devDependencies?: Record<string, string>
    }
    const others = Object.entries(dependencies).filter(
      ([name, range]) => !ownPackages.test(name) && !/^(?:workspace|file|link):/.test(range),
    )
    projects.push({
      name: dirname(path).replace('+', '/'),
      kind,
      folder,
      wanted: versionIn(dependencies['@botpress/sdk'] ?? devDependencies['@botpress/sdk'] ?? ''),
      dependencies: Object.fromEntries(others),
    })
  }
  return projects.toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
}

/** The version in a range; empty for another kind of range. */
export function versionIn(range: string): string {
  return /\d+\.\d+\.\d+/.exec(range)?.[0] ?? ''
}

/**
 * Of the versions with the same minor, or else the same major version, or else of all: the first one not earlier, or the last.
 * For a project that names none, the last.
 */
export function nearestVersion(wanted: string, available: string[]): string {
  const sorted = available.toSorted(compareVersions)
  if (wanted === '') return sorted.at(-1)!
  const [major, minor] = wanted.split('.')
  const groups = [`${major}.${minor}.`, `${major}.`, '']
  const group = groups
    .map((prefix) => sorted.filter((version) => version.startsWith(prefix)))
    .find(({ length }) => length > 0)!
  return group.find((version) => compareVersions(version, wanted) >= 0) ?? group.at(-1)!
}
