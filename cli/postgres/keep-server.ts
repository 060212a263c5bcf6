import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { untilParentGone } from '../../shared/process/parent-process.ts'
import { freePort } from './free-port.ts'

/** A server that accepts connections on 127.0.0.1. */
export interface KeptServer {
  readonly port: number
  readonly pid: number
}

/** What a supervisor tells its parent, as one line of JSON on standard output. */
export type SupervisorReport = { ready: KeptServer } | { error: string }

export interface ServerPlan {
  /** What messages call it. */
  name: string
  command: string
  parameters(port: number): string[]
  environment?: NodeJS.ProcessEnv
  /** A certain port; a free one unless given. */
  port?: number
  /** Whether the process of this id accepts connections on this port. */
  isReady(server: KeptServer): Promise<boolean>
  /** The signals that end it, gentlest first; each has `patienceMilliseconds` to work. */
  endSignals: readonly NodeJS.Signals[]
}

const attempts = 4
const pollMilliseconds = 20
const patienceMilliseconds = 20_000

/**
 * The whole life of a supervisor process: starts the server, reports that it is ready (or why not), and stops it when
 * standard input ends or a signal arrives. Returns when the server is gone.
 *
 * @param told resolves when the supervisor is told to stop
 */
export async function keepServer(plan: ServerPlan, told = untilToldToStop()): Promise<void> {
  // When the parent is dead nobody reads these pipes. That must not end the supervisor before it has stopped the server.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})

  let server = launch(plan, await portFor(plan))
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await Promise.race([told, untilReady(plan, server)])
    if (outcome === 'told') return end(plan, server)
    if (outcome === 'ready') break
    if (attempt === attempts) throw new Error(`${plan.name} ended before it was ready: ${outcome}.`)
    // Somebody else took the port, or processes of a server that crashed a moment ago are still on their way out.
    await delay(attempt * 250)
    server = launch(plan, await portFor(plan))
  }

  report({ ready: { pid: server.pid, port: server.port } })
  const outcome = await Promise.race([told, server.exited])
  if (outcome !== 'told') throw new Error(`${plan.name} ended by itself: ${outcome}.`)
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
  /** Resolves with the way it ended, in words. */
  readonly exited: Promise<string>
}

function launch(plan: ServerPlan, port: number): LaunchedServer {
  const child = spawn(plan.command, plan.parameters(port), {
    env: { ...process.env, ...plan.environment },
    // All that the server prints goes where the supervisor's own words do not: to standard error.
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

/** Resolves with `ready`, or with the way the server ended before it was. */
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
export async function untilToldToStop(): Promise<'told'> {
  await Promise.race([
    untilParentGone(),
    ...(['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(
      (signal) => new Promise<void>((resolve) => process.on(signal, () => resolve())),
    ),
  ])
  return 'told'
}
