import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** How a process ended: by a code, or by a signal. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  /** What messages call it. */
  readonly name: string
  readonly pid: number
  /** Resolves when the process is gone, for whatever reason. Never rejects. */
  readonly exited: Promise<Exit>
  /** Asks it to end with SIGTERM, and ends it with SIGKILL when the grace period is over. */
  stop(): Promise<Exit>
  /** Ends it at once, with SIGKILL. */
  kill(): void
}

export interface ChildOptions {
  /** Where it runs: this process's own directory unless given. */
  directory?: string
  /** Its environment: this process's own unless given. */
  environment?: NodeJS.ProcessEnv
  /** How long it may take to stop. Our own processes need up to 25 seconds, unless `SHUTDOWN_SECONDS` says otherwise. */
  graceMilliseconds?: number
}

/**
 * Starts a process that must not outlive this one. Its standard input is a pipe that this process holds and never
 * writes to, and `ISOBOT_PARENT=stdin` tells it so: when the pipe ends, it stops. What it prints is passed through. It is
 * detached: what a terminal sends to all processes at once reaches this one, which ends the others in order.
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
