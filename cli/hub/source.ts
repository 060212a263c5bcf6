import { execFile } from 'node:child_process'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
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
