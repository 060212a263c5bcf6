import { basename, join } from 'node:path'
import type { Connection } from '../../../cli/connection.ts'
import type { OwnPlatform } from '../../support/own-platform.ts'
import type { BuiltCli } from './build-cli.ts'
import { startCommand, type RunningCommand } from './run-command.ts'

/** The result of one command. */
export interface Row {
  command: string
  exitCode: number | null
  remark: string
}

/** The surroundings in which the commands run. */
export interface Setting {
  cli: BuiltCli
  /** The checkout of the public repository. */
  source: string
  /** An empty folder. */
  folder: string
  platform: OwnPlatform
}

/** Runs commands without a person, and reports the result of each. */
export interface Runner extends Setting {
  /** A connection of the platform's administrator. */
  api: Connection
  /** Runs a command to its end. */
  run(command: string, ...options: string[]): Promise<void>
  /**
   * Runs a command that a person ends.
   *
   * @param work what is done meanwhile, which makes the command end; returns a remark, and throws when the command has failed
   */
  attend(command: string, options: string[], work: (running: RunningCommand) => Promise<string>): Promise<void>
  /**
   * Tries what the commands before have made.
   *
   * @param work returns a remark, and throws when it fails
   */
  attempt(name: string, work: () => Promise<string>): Promise<void>
  /** The options that name a project in the folder. */
  at(project: string): string[]
}

/** @param report called with each result */
export function openRunner(setting: Setting, api: Connection, report: (row: Row) => void): Runner {
  const { cli, folder } = setting
  const environment: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', CI: '1' }

  function start(command: string, options: string[]): RunningCommand {
    const common = ['--botpress-home', join(folder, 'home'), '--confirm', '--verbose']
    return startCommand(cli.script, [...command.split(' '), ...options, ...common], { directory: folder, environment })
  }

  return {
    ...setting,
    api,
    at: (project) => ['--work-dir', join(folder, project)],
    async run(command, ...options) {
      const { exitCode, output } = await start(command, options).ended
      report({ command: labelOf(command, options), exitCode, remark: exitCode === 0 ? '' : lastError(output) })
    },
    async attempt(command, work) {
      await work().then(
        (remark) => report({ command, exitCode: 0, remark }),
        (error: Error) => report({ command, exitCode: 1, remark: lastError(error.message) }),
      )
    },
    async attend(command, options, work) {
      const running = start(command, options)
      try {
        const remark = await work(running)
        const { exitCode, output } = await running.ended
        // Null: a signal has ended it, as Ctrl-C ends a server.
        report({
          command: labelOf(command, options),
          exitCode,
          remark: exitCode === 0 || exitCode === null ? remark : lastError(output),
        })
      } catch (error) {
        running.interrupt()
        endCode(running)
        await running.ended
        report({
          command,
          exitCode: 1,
          remark: lastError(`${running.output()}\n${(error as Error).message.split('\n', 1)[0]}`),
        })
      }
    },
  }
}

/** A command with its package, and the name of its project; ids differ from run to run. */
function labelOf(command: string, options: string[]): string {
  const reference = options[0]?.includes('@') ? ` ${options[0]}` : ''
  const project = options.indexOf('--work-dir') + 1
  return `${command}${reference}${project > 0 ? ` (${basename(options[project]!)})` : ''}`
}

/** The error of a command, in one line. */
function lastError(output: string): string {
  const lines = output.split('\n').map((line) => line.trim())
  return (lines.findLast((line) => line.startsWith('×')) ?? lines.findLast((line) => line !== '') ?? '').slice(0, 300)
}

/** Ends the process in which `bp dev` runs the code; the command ends with it. */
export function endCode(running: RunningCommand): void {
  const [, pid] = /Child process spawned with pid (\d+)/.exec(running.output()) ?? []
  if (pid === undefined) return
  try {
    process.kill(Number(pid))
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
