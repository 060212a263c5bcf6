import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Platform } from '../support/platform.ts'

/** The file that `npx isobot` runs. */
export const launcher = join(import.meta.dirname, '..', '..', 'cli', 'isobot.js')

/** How a command ended, and what it printed. */
export interface Outcome {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** A command that is being run. */
export interface RunningCommand {
  readonly child: ChildProcessWithoutNullStreams
  /** The standard output, and the standard error, until now. */
  stdout(): string
  stderr(): string
  readonly ended: Promise<Outcome>
}

export interface CommandOptions {
  /** The content of its standard input. */
  input?: string | Uint8Array
  environment?: NodeJS.ProcessEnv
  directory?: string
  /** Has the launcher believe that it runs on this version of Node, so that it looks for another one. */
  asNode?: string
}

/** A value of `--import` that has Node believe that it is another version. */
export function pretendNode(version: string): string {
  return `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`
}

export const pretendOldNode = pretendNode('18.0.0')

/** The command line as people use it: the real launcher in a process of its own, with settings of its own. */
export interface CommandLine extends AsyncDisposable {
  /** The folder of the settings. */
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
  start(parameters: readonly string[], options?: CommandOptions): RunningCommand
  /** Starts another program, which finds the same environment. */
  startOther(command: readonly string[], options?: CommandOptions): RunningCommand
  run(parameters: readonly string[], options?: CommandOptions): Promise<Outcome>
  /** Runs a command with `--json`, and gives the document that it printed. Rejects when it fails. */
  json<T = Record<string, unknown>>(...parameters: string[]): Promise<T>
}

/** Opens a command line that knows a platform by its environment; without one, it knows none. */
export async function openCommandLine(
  platform?: Pick<Platform, 'url' | 'token' | 'workspaceId'>,
): Promise<CommandLine> {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-cli-'))
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: folder,
    ISOBOT_CONFIG_DIR: join(folder, 'settings'),
    ISOBOT_DATA_DIR: join(folder, 'data'),
    ...(platform && {
      ISOBOT_URL: platform.url,
      ISOBOT_TOKEN: platform.token,
      ISOBOT_WORKSPACE: platform.workspaceId,
    }),
  }
  const running = new Set<RunningCommand>()
  const startOther: CommandLine['startOther'] = (command, options = {}) => {
    const started = startProgram(command, {
      directory: folder,
      ...options,
      environment: { ...environment, ...options.environment },
    })
    running.add(started)
    void started.ended.then(() => running.delete(started))
    return started
  }
  const start: CommandLine['start'] = (parameters, options = {}) => {
    // It loads no TypeScript, so that only the Node that it finds can run the command.
    const pretending = ['--no-experimental-strip-types', '--import', pretendNode(options.asNode ?? '')]
    const asNode = options.asNode ? pretending : []
    return startOther([process.execPath, ...asNode, launcher, ...parameters], options)
  }
  return {
    folder,
    environment,
    start,
    startOther,
    run: (parameters, options) => {
      const { child, ended } = start(parameters, options)
      child.stdin.end(options?.input)
      return ended
    },
    async json<T>(...parameters: string[]) {
      const { child, ended } = start([...parameters, '--json'])
      child.stdin.end()
      const { code, stdout, stderr } = await ended
      if (code !== 0) throw new Error(`isobot ${parameters.join(' ')} ended with ${code}: ${stderr}`)
      return JSON.parse(stdout) as T
    },
    async [Symbol.asyncDispose]() {
      // Only what a failed test has left.
      for (const { child } of running) process.kill(-child.pid!, 'SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function startProgram(
  [command, ...parameters]: readonly string[],
  { environment, directory }: CommandOptions,
): RunningCommand {
  // A process group of its own, so that all of it can be ended.
  const child = spawn(command!, parameters, { env: environment, cwd: directory, stdio: 'pipe', detached: true })
  // A command may end without having read what it was given.
  child.stdin.on('error', () => {})
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = once(child, 'close').then(([code, signal]): Outcome => ({ code, signal, stdout, stderr }))
  return { child, stdout: () => stdout, stderr: () => stderr, ended }
}
