import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { failed, misused } from '../../failure.ts'
import { findBots } from './bots.ts'
import { Ids } from './ids.ts'
import { convertBot, type ImportedProject } from './project.ts'
import { readSource } from './source.ts'

/**
 * Converts the bots of an export of v12: an archive, the folder of a bot, or a data folder with several.
 *
 * @throws Failure when there is no bot, or the export is too large
 */
export async function convertExport(path: string): Promise<ImportedProject[]> {
  const bots = findBots(await readSource(path))
  if (bots.length === 0) {
    throw misused(`${path} has no bot of v12: it has neither a bot.config.json nor flows/main.flow.json`)
  }
  const projects: ImportedProject[] = []
  for (const bot of bots) projects.push(await convertBot(bot))
  return projects
}

/** Writes each project into a folder of its own; a single one into the folder itself. */
export async function writeProjects(projects: ImportedProject[], out: string | undefined): Promise<string[]> {
  const ids = new Ids()
  const folders: string[] = []
  for (const project of projects) {
    const name = ids.make(project.id, 'bot')
    const folder = projects.length === 1 ? resolve(out ?? name) : join(resolve(out ?? '.'), name)
    const present = await readdir(folder).catch(() => [])
    if (present.length > 0) throw failed(`${folder} is not empty: name another folder with --out`)
    folders.push(folder)
  }
  for (const [index, { files }] of projects.entries()) {
    for (const [path, text] of files) {
      const file = join(folders[index]!, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    }
  }
  return folders
}
