import { readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { failed, misused } from '../failure.ts'

/** The settings file; a folder that has it is a bot's project. */
export const projectFile = 'isobot.json'

/** The content of `isobot.json`. */
export interface ProjectSettings {
  /** The bot's name when it is created. */
  name: string
  /** The module with hooks and actions; `src/index.ts` by default. */
  entry?: string
  permissions?: { net?: string[] }
  /** The bot's id on each platform it was deployed to, by the platform's address. */
  bots?: Record<string, string>
}

/** A folder with the source of a bot. */
export interface Project {
  folder: string
  /** Path relative to the folder. */
  entry: string
  settings: ProjectSettings
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
  const settings = toSettings(file, text)
  return { folder, entry: settings.entry ?? join('src', 'index.ts'), settings }
}

/** The project of a single module without a settings file. */
export function looseProject(file: string): Project {
  const folder = dirname(resolve(file))
  return { folder, entry: relative(folder, resolve(file)), settings: { name: 'bot' } }
}

/** Saves the id of the bot that a project was deployed as on a platform. */
export async function rememberBot(project: Project, url: string, botId: string): Promise<void> {
  const { settings } = project
  if (settings.bots?.[url] === botId) return
  settings.bots = { ...settings.bots, [url]: botId }
  await writeFile(join(project.folder, projectFile), `${JSON.stringify(settings, undefined, 2)}\n`)
}

export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() ?? false
}

export async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ?? false
}

export async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR'].includes(String(error.code)))
      return undefined
    throw failed(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function toSettings(file: string, text: string): ProjectSettings {
  try {
    const settings = JSON.parse(text) as Partial<ProjectSettings>
    if (typeof settings.name === 'string') return settings as ProjectSettings
  } catch (cause) {
    throw failed(`${file} is not valid JSON (${(cause as Error).message}): correct it`, { cause })
  }
  throw failed(`${file} has no "name": add the bot’s name`)
}
