import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { failed, misused } from '../failure.ts'
import { exampleFolder, type ExampleName } from './project-examples.ts'
import { dependencyOf, home } from './own-package.ts'
import { refreshPlatformFiles } from './platform-files.ts'
import { readIfPresent } from '../read-if-present.ts'
import { projectFile } from './project.ts'

const template = join(home, 'templates', 'bot')

/** Files of the template that projects of examples have, too. */
const common = ['gitignore', 'tsconfig.json']

/** A name that is valid for packages, folders and bots on every system. */
const validName = /^[a-z0-9][a-z0-9._-]{0,99}$/

export interface CreatedProject {
  folder: string
  name: string
  /** The names of the created files. */
  files: string[]
  /** Whether the project finds isobot without an installation of its own. */
  isInstalled: boolean
}

/**
 * Creates the project of a bot in a folder.
 *
 * @param path the path of the folder; its last part is the bot's name
 * @param example the example that the project begins as; without one, it has a hook and an action
 * @throws Failure when the name is invalid or the folder is not empty
 */
export async function initProject(path: string, example?: ExampleName): Promise<CreatedProject> {
  const folder = resolve(path)
  const name = basename(folder)
  if (!validName.test(name)) {
    throw misused(`"${name}" is not a valid name for a project: use lower-case letters, digits, "-", "_" and "."`)
  }
  const present = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw failed(`${folder} cannot be used as a folder (${error.code}): choose another name`, { cause: error })
  })
  if (present.length > 0) throw failed(`${folder} is not empty: choose another name, or an empty folder`)

  await mkdir(folder, { recursive: true })
  if (example === undefined) await cp(template, folder, { recursive: true })
  else {
    for (const file of common) await cp(join(template, file), join(folder, file))
    await cp(exampleFolder(example), folder, { recursive: true })
  }
  // Under its real name the file would apply to the template folder itself.
  await rename(join(folder, 'gitignore'), join(folder, '.gitignore'))
  const readme = join(folder, 'README.md')
  await writeFile(readme, (await readFile(readme, 'utf8')).replace('# NAME', `# ${name}`))
  await writeJson(join(folder, 'package.json'), {
    name,
    private: true,
    type: 'module',
    scripts: { dev: 'isobot dev', test: 'isobot test', deploy: 'isobot deploy' },
    devDependencies: { isobot: await dependencyOf(folder) },
  })
  const declared = JSON.parse(
    (await readIfPresent(join(folder, projectFile))) ?? '{ "permissions": { "net": [] } }',
  ) as object
  await writeJson(join(folder, projectFile), { ...declared, name })
  await refreshPlatformFiles(folder)
  return { folder, name, files: (await readdir(folder)).toSorted(), isInstalled: isFound(folder) }
}

/** Whether npm scripts and modules in a folder find isobot: npm and Node look in the folders above, too. */
function isFound(folder: string): boolean {
  try {
    createRequire(join(folder, 'package.json')).resolve('isobot/test')
    return true
  } catch {
    return false
  }
}

async function writeJson(file: string, content: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`)
}
