import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { startCommand, type RunningCommand } from '../compatibility/cli/run-command.ts'
import type { Platform } from './platform.ts'

const run = promisify(execFile)

const released = '@botpress/cli@0.8.59'
const fetchMilliseconds = 240_000

/** Instruction for a machine on which the command line could not be fetched. */
export const remedy = `bp was not found: fetch it with \`npx --yes --package ${released} -c 'bp --version'\`, online`

/** The published command line from npx's cache; undefined where it is unavailable. */
export async function findPublishedCli(): Promise<string | undefined> {
  const command = ['exec', '--yes', '--prefer-offline', `--package=${released}`, '-c', 'command -v bp']
  // In a folder of its own: otherwise npm would take the versions of this project's dependencies for the requested
  // ones.
  const options = { cwd: tmpdir(), timeout: fetchMilliseconds }
  const found = await run('npm', command, options).catch(() => undefined)
  return found?.stdout.trim().split('\n').at(-1) || undefined
}

export interface PublishedCli extends AsyncDisposable {
  /** Runs a command and returns its output. */
  run(...command: string[]): Promise<string>
  /** Starts a command that a person ends. */
  start(...command: string[]): RunningCommand
  /**
   * Copies one of the command line's project templates, with its dependencies, into a folder of this name; returns the
   * folder.
   */
  createProject(template: string, name: string, change?: (packageFile: string) => string): Promise<string>
}

/** Opens the command line with a home folder of its own. Disposing removes all files that it has written there. */
export async function openPublishedCli(bp: string, { url }: Platform): Promise<PublishedCli> {
  const home = await mkdtemp(join(tmpdir(), 'isobot-bp-'))
  const modules = dirname(dirname(bp))
  const options = ['--botpress-home', join(home, 'settings'), '--confirm', '--verbose']
  const environment = { ...process.env, BP_API_URL: url, NO_COLOR: '1', CI: '1' }
  return {
    start: (...command) => startCommand(bp, [...command, ...options], { directory: home, environment }),
    async run(...command) {
      const { stdout, stderr } = await run(process.execPath, [bp, ...command, ...options], {
        cwd: home,
        env: environment,
        timeout: 90_000,
      })
      return stdout + stderr
    },
    async createProject(template, name, change = (packageFile) => packageFile) {
      const folder = join(home, name)
      await cp(join(modules, '@botpress', 'cli', 'templates', template), folder, { recursive: true })
      await symlink(modules, join(folder, 'node_modules'))
      const packageFile = join(folder, 'package.json')
      await writeFile(packageFile, change(await readFile(packageFile, 'utf8')))
      return folder
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  }
}
