import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { failed, misused } from '../failure.ts'
import { readIfPresent } from '../read-if-present.ts'
import { replaceFile } from '../replace-file.ts'
import { readSettings, settingsFor, type ProjectSettings } from './settings.ts'

/** The settings file; a folder that has it is a bot's project. */
export const projectFile = 'isobot.json'

/** A folder with the source of a bot. */
export interface Project {
  folder: string
  /** Path relative to the folder. */
  entry: string
  /** Those of isobot.json, or of one of its environments. */
  settings: ProjectSettings
  /** The environment of isobot.json. */
  environment?: { name: string; profile: string }
}

/**
 * Opens the project in a folder or in its nearest ancestor with one.
 * @throws Failure when there is no project
 */
export async function openProject(start: string): Promise<Project> {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const project = await readProject(folder)
    if (project) return project
    if (folder === dirname(folder)) break
  }
  throw misused(
    `${resolve(start)} is not a bot's project, because it has no ${projectFile}: create one with \`isobot init NAME\`, or name its folder`,
  )
}

/** The project in a folder, without its ancestors; undefined when there is none. */
export async function readProject(folder: string): Promise<Project | undefined> {
  const file = join(folder, projectFile)
  const text = await readIfPresent(file)
  if (text === undefined) return undefined
  const settings = readSettings(file, text)
  return { folder, entry: settings.entry ?? join('src', 'index.ts'), settings }
}

/** A project as an environment declares it. @throws Failure when isobot.json does not have the environment */
export function inEnvironment(project: Project, name: string): Project {
  const { profile, ...settings } = settingsFor(project.settings, name)
  return { ...project, settings, environment: { name, profile } }
}

/** The project of a single module without a settings file. */
export function looseProject(file: string): Project {
  const folder = dirname(resolve(file))
  return { folder, entry: relative(folder, resolve(file)), settings: { name: 'bot' } }
}

/**
 * Saves the id of the bot that a project was deployed as on a platform, in the present content of isobot.json: it may have
 * been edited since it was read.
 *
 * @throws Failure with the line to add by hand, when the file cannot be written
 */
export async function rememberBot(project: Project, url: string, botId: string): Promise<void> {
  const { settings, environment, folder } = project
  if (settings.bots?.[url] === botId) return
  const file = join(folder, projectFile)
  try {
    const content = readSettings(file, await readFile(file, 'utf8'))
    const own = environment === undefined ? content : content.environments?.[environment.name]
    if (!own) throw failed(`it has no environment "${environment?.name}" any more`)
    own.bots = { ...own.bots, [url]: botId }
    // A symbolic link stays one.
    const target = await realpath(file)
    await replaceFile(target, `${JSON.stringify(content, undefined, 2)}\n`, (await stat(target)).mode)
  } catch (cause) {
    const entry = `"bots": ${JSON.stringify({ [url]: botId })}`
    throw failed(
      `The project is deployed as ${botId}, and ${projectFile} does not record it: ${(cause as Error).message}. ` +
        `Add ${entry} to it, by which the next deployment finds the bot`,
      { cause },
    )
  }
  settings.bots = { ...settings.bots, [url]: botId }
}

export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() ?? false
}

export async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ?? false
}
