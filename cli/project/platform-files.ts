import { copyFile, mkdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'

/** Where isobot itself is. */
const home = resolve(import.meta.dirname, '..', '..')

/**
 * Brings into a project what it has of this isobot: the types of its platform, and, since isobot is in no registry, the
 * links by which npm's scripts and tests find it. What is there already and the same is left alone.
 */
export async function refreshPlatformFiles(folder: string): Promise<void> {
  await refreshTypes(folder)
  const modules = join(folder, 'node_modules')
  await link(home, join(modules, 'isobot'))
  await link(join('..', 'isobot', 'cli', 'isobot.js'), join(modules, '.bin', 'isobot'))
}

/** From a project to isobot, as its package.json names it. */
export function pathToIsobot(folder: string): string {
  return relative(folder, home) || '.'
}

async function refreshTypes(folder: string): Promise<void> {
  const from = join(home, 'bot', 'index.d.ts')
  const to = join(folder, 'types', 'isobot-bot.d.ts')
  const [current, copied] = await Promise.all([readFile(from), readFile(to).catch(() => undefined)])
  if (copied && current.equals(copied)) return
  await mkdir(dirname(to), { recursive: true })
  // Moved there: a link of that name is replaced, and not what it leads to.
  const draft = `${to}.${process.pid}`
  await copyFile(from, draft)
  await rename(draft, to)
}

/** A folder of that name, as npm may have put it there, stays. */
async function link(target: string, path: string): Promise<void> {
  const present = await readlink(path).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? undefined : target,
  )
  if (present !== undefined && resolve(dirname(path), present) === resolve(dirname(path), target)) return
  await mkdir(dirname(path), { recursive: true })
  if (present !== undefined) await rm(path)
  await symlink(target, path)
}
