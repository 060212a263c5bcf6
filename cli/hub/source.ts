import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { failed, misused } from '../failure.ts'
import { unpack } from './unpack.ts'

const run = promisify(execFile)

/** A folder with projects. */
export interface Source {
  folder: string
  /** Whether it is a temporary folder of this import, in which dependencies are installed. */
  isUnpacked: boolean
}

const isArchive = /\.(?:tgz|tar|tar\.gz)$/i

/** The name of a package in a registry, with a version, a range or a tag: no address, no path. */
const packageName = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?:@[\w.^~*+-]+)?$/i

/**
 * Opens what an import names: a folder as it is; an archive, or a package of npm, unpacked into a temporary folder.
 *
 * @param temporary an empty folder
 * @throws Failure when there is no such source, or its archive is refused
 */
export async function openSource(given: string, temporary: string): Promise<Source> {
  const found = await stat(given).catch(() => undefined)
  if (found?.isDirectory()) return { folder: resolve(given), isUnpacked: false }
  if (!found && !packageName.test(given)) throw misused(`There is no folder, archive or package ${given}`)
  if (found && !isArchive.test(given)) throw misused(`${given} is no .tgz: name an archive, a folder or an npm package`)
  const archive = found ? given : await fetchPackage(given, join(temporary, 'package'))
  const folder = join(temporary, 'source')
  await unpack(archive, folder)
  return { folder, isUnpacked: true }
}

/** Downloads a package, whose scripts do not run; returns its archive. */
async function fetchPackage(name: string, folder: string): Promise<string> {
  await mkdir(folder)
  const options = ['--ignore-scripts', '--pack-destination', folder]
  try {
    await run('npm', ['pack', ...options, '--', name], { cwd: folder })
  } catch (cause) {
    throw failed(`npm has no package ${name}, or is offline`, { cause })
  }
  const [archive] = (await readdir(folder)).filter((file) => isArchive.test(file))
  if (archive === undefined) throw failed(`npm has written no archive of ${name}`)
  return join(folder, archive)
}

/**
 * Installs the dependencies of an unpacked project, without their scripts.
 *
 * @returns why it failed; empty otherwise
 */
export async function installDependencies(folder: string): Promise<string> {
  const missing = await missingWorkspacePackages(folder)
  if (missing !== '') return missing
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline']
  const install = run('npm', ['install', ...options], { cwd: folder, maxBuffer: 16 * 1024 * 1024 })
  return install.then(
    () => '',
    (error: unknown) =>
      `npm install: ${String((error as { stderr?: string }).stderr ?? error)
        .slice(-300)
        .trim()}`,
  )
}

/**
 * Packages that a project takes from the workspace of its author, `workspace:…`, and that are in no folder of modules above it.
 *
 * @returns the problem with a remedy; empty without one, and for a manifest that is no JSON
 */
export async function missingWorkspacePackages(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}')
  const missing = workspacePackagesIn(text).filter((name) => !isInstalled(folder, name))
  if (missing.length === 0) return ''
  return (
    `package.json has packages of its author’s workspace, which are not installed here: ${missing.join(', ')}. ` +
    'Install the dependencies of the whole workspace, by `pnpm install` for example, and import its folder'
  )
}

function workspacePackagesIn(manifest: string): string[] {
  try {
    const { dependencies, devDependencies } = JSON.parse(manifest) as Record<
      string,
      Record<string, unknown> | undefined
    >
    return Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, range]) => typeof range === 'string' && range.startsWith('workspace:'))
      .map(([name]) => name)
  } catch {
    // `bp` reports it.
    return []
  }
}

function isInstalled(folder: string, name: string): boolean {
  if (existsSync(join(folder, 'node_modules', name))) return true
  return dirname(folder) !== folder && isInstalled(dirname(folder), name)
}
