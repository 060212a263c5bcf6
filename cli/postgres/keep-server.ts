import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { untilParentGone } from '../../shared/process/parent-process.ts'
import { freePort } from './free-port.ts'

/** A server that accepts connections on 127.0.0.1. */
export interface KeptServer {
  readonly port: number
  readonly pid: number
}

/** A supervisor's report to its parent: one line of JSON on standard output. */
export type SupervisorReport = { ready: KeptServer } | { error: string }

export interface ServerPlan {
  /** The server's name in messages. */
  name: string
  command: string
  parameters(port: number): string[]
  environment?: NodeJS.ProcessEnv
  /** The port; by default a free one. */
  port?: number
  /** Whether the process of this id accepts connections on this port. */
  isReady(server: KeptServer): Promise<boolean>
  /** The signals that end the server, gentlest first, each followed by a wait of `patienceMilliseconds`. */
  endSignals: readonly NodeJS.Signals[]
}

const attempts = 4
const pollMilliseconds = 20
const patienceMilliseconds = 20_000

/**
 * The lifecycle of a supervisor process: starts the server, reports readiness or an error, and stops the server when
 * standard input ends or a signal arrives. Returns when the server has exited.
 *
 * @param stopRequested resolves when the supervisor has to stop
 */
export async function keepServer(plan: ServerPlan, stopRequested = untilStopRequested()): Promise<void> {
  // After the parent's death these pipes have no reader. EPIPE must not end the supervisor before it stops the server.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})

  let server = launch(plan, await portFor(plan))
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await Promise.race([stopRequested, untilReady(plan, server)])
    if (outcome === 'stop-requested') return end(plan, server)
    if (outcome === 'ready') break
    if (attempt === attempts) throw new Error(`${plan.name} ended before it was ready: ${outcome}.`)
    // Another process took the port, or processes of a server that has just crashed are still exiting.
    await delay(attempt * 250)
    server = launch(plan, await portFor(plan))
  }

  report({ ready: { pid: server.pid, port: server.port } })
  const outcome = await Promise.race([stopRequested, server.exited])
  if (outcome !== 'stop-requested') throw new Error(`${plan.name} ended by itself: ${outcome}.`)
  await end(plan, server)
}

/** Runs a supervisor's main function: an error becomes the report that the parent waits for. */
export async function runSupervisor(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    report({ error: error instanceof Error ? error.message : String(error) })
    process.exitCode = 1
  }
}

interface LaunchedServer extends KeptServer {
  readonly child: ChildProcess
  /** Resolves with the signal, the exit code or the error that ended the process, as text. */
  readonly exited: Promise<string>
}

function launch(plan: ServerPlan, port: number): LaunchedServer {
  const child = spawn(plan.command, plan.parameters(port), {
    env: { ...process.env, ...plan.environment },
    // The server's output goes to standard error, because standard output carries the supervisor's reports.
    stdio: ['ignore', 2, 2],
  })
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  return { child, exited, port, pid: child.pid ?? 0 }
}

async function portFor({ port }: ServerPlan): Promise<number> {
  return port ?? freePort()
}

/** Resolves with `ready`, or with the end of a server that exited before. */
async function untilReady(plan: ServerPlan, server: LaunchedServer): Promise<string> {
  const { child, exited } = server
  while (child.exitCode === null && child.signalCode === null) {
    if (await plan.isReady(server)) return 'ready'
    await delay(pollMilliseconds)
  }
  return exited
}

async function end(plan: ServerPlan, { child, exited }: LaunchedServer): Promise<void> {
  for (const signal of plan.endSignals) {
    child.kill(signal)
    if (await Promise.race([exited, delay(patienceMilliseconds, undefined, { ref: false })])) return
  }
}

function report(line: SupervisorReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Resolves when standard input ends or a signal arrives. */
export async function untilStopRequested(): Promise<'stop-requested'> {
  await Promise.race([
    untilParentGone(),
    ...(['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(
      (signal) => new Promise<void>((resolve) => process.on(signal, () => resolve())),
    ),
  ])
  return 'stop-requested'
}
