import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { compareVersions, nearestVersion, ownPackages, versionIn } from './projects.ts'

const run = promisify(execFile)

export interface SdkVersion {
  sdk: string
  /** Versions of other packages of the publisher in place of those that this SDK names and the registry does not have. */
  replaced: Record<string, string>
}

interface Manifest {
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** The versions of the SDK and its packages that the registry has. */
export class SdkVersions {
  readonly #views = new Map<string, Promise<unknown>>()

  async nearest(wanted: string): Promise<SdkVersion> {
    const sdk = nearestVersion(wanted, await this.#versionsOf('@botpress/sdk'))
    const fields = ['dependencies', 'peerDependencies']
    const { dependencies, peerDependencies } = await this.#view<Manifest>(`@botpress/sdk@${sdk}`, fields)
    const named = Object.entries({ ...peerDependencies, ...dependencies }).filter(([name]) => ownPackages.test(name))
    const replaced: Record<string, string> = {}
    for (const [name, range] of named) {
      const nearest = nearestVersion(versionIn(range), await this.#versionsOf(name))
      const isThere = range.startsWith('^')
        ? compareVersions(nearest, versionIn(range)) >= 0
        : nearest === versionIn(range)
      if (!isThere) replaced[name] = nearest
    }
    return { sdk, replaced }
  }

  async #versionsOf(name: string): Promise<string[]> {
    return [await this.#view<string | string[]>(name, ['versions'])].flat()
  }

  #view<Result>(name: string, fields: string[]): Promise<Result> {
    const asked = this.#views.get(name) ?? view(name, fields)
    this.#views.set(name, asked)
    return asked as Promise<Result>
  }
}

async function view(name: string, fields: string[]): Promise<unknown> {
  const { stdout } = await run('npm', ['view', name, ...fields, '--json'])
  return JSON.parse(stdout || '{}')
}
