import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The end of a process: its exit code or signal. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  /** The process's name in messages. */
  readonly name: string
  readonly pid: number
  /** Resolves when the process has exited, for any reason. Never rejects. */
  readonly exited: Promise<Exit>
  /** Sends SIGTERM, and SIGKILL when the grace period is over. */
  stop(): Promise<Exit>
  /** Sends SIGKILL. */
  kill(): void
}

export interface ChildOptions {
  /** Working directory; by default that of this process. */
  directory?: string
  /** Environment; by default that of this process. */
  environment?: NodeJS.ProcessEnv
  /** Time between SIGTERM and SIGKILL. Isobot's processes need up to 25 seconds unless `SHUTDOWN_SECONDS` is set. */
  graceMilliseconds?: number
}

/**
 * Starts a process that must not outlive this one. Its standard input is a pipe that this process holds and never
 * writes to; with `ISOBOT_PARENT=stdin` the process stops when the pipe ends. Its output is inherited. It is detached,
 * so that a terminal's signal to the process group reaches only this process, which stops the others in order.
 */
export async function startChild(
  name: string,
  [command, ...parameters]: readonly [string, ...string[]],
  { directory, environment = process.env, graceMilliseconds = 30_000 }: ChildOptions = {},
): Promise<Child> {
  const child = spawn(command, parameters, {
    cwd: directory,
    env: { ...environment, ISOBOT_PARENT: 'stdin' },
    detached: true,
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  try {
    await once(child, 'spawn')
  } catch (error) {
    throw new Error(`${name} could not be started with "${[command, ...parameters].join(' ')}": ${String(error)}`, {
      cause: error,
    })
  }

  let stopped: Promise<Exit> | undefined
  async function stop(): Promise<Exit> {
    child.kill('SIGTERM')
    const overdue = setTimeout(() => child.kill('SIGKILL'), graceMilliseconds)
    const exit = await exited
    clearTimeout(overdue)
    return exit
  }

  return { name, pid: child.pid!, exited, stop: () => (stopped ??= stop()), kill: () => void child.kill('SIGKILL') }
}
