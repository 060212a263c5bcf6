import { mkdir, readFile, readlink, rm, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isPackaged } from '#shared/process/is-packaged.ts'
import { replaceFile } from '../replace-file.ts'
import { home } from './own-package.ts'

/**
 * Updates the files of isobot in a project: the platform's types and, for a clone, which npm need not install, the links
 * by which npm scripts and tests find it. Files that are up to date are not written.
 */
export async function refreshPlatformFiles(folder: string): Promise<void> {
  await refreshTypes(folder)
  if (isPackaged) return
  const modules = join(folder, 'node_modules')
  await link(home, join(modules, 'isobot'))
  await link(join('..', 'isobot', 'cli', 'isobot.js'), join(modules, '.bin', 'isobot'))
}

async function refreshTypes(folder: string): Promise<void> {
  const from = join(home, 'bot', 'index.d.ts')
  const to = join(folder, 'types', 'isobot-bot.d.ts')
  const [current, copied] = await Promise.all([readFile(from), readFile(to).catch(() => undefined)])
  if (copied && current.equals(copied)) return
  await mkdir(dirname(to), { recursive: true })
  await replaceFile(to, current)
}

/** Creates or replaces a symbolic link. A folder of that name, as npm may have installed it, stays. */
async function link(target: string, path: string): Promise<void> {
  const present = await readlink(path).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? undefined : target,
  )
  if (present !== undefined && resolve(dirname(path), present) === resolve(dirname(path), target)) return
  await mkdir(dirname(path), { recursive: true })
  if (present !== undefined) await rm(path)
  await symlink(target, path)
}
