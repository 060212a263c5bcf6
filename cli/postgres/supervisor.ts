import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Exit } from '../start/children.ts'
import type { SupervisorReport, KeptServer } from './keep-server.ts'

/** The handle of a running server in the process that started its supervisor. */
export interface Supervisor extends KeptServer {
  /** Resolves when the supervisor has exited, and its server too unless the supervisor was killed with SIGKILL. */
  readonly exited: Promise<Exit>
  /** Stops the server, and resolves when it and its supervisor have exited. */
  stop(): Promise<void>
}

export interface SupervisorOptions {
  /** The account the supervisor runs as; by default that of this process. */
  uid?: number
  gid?: number
  /** Receives the server's output, line by line. */
  log: (line: string) => void
  /** Aborts the start, which then rejects when the supervisor has exited. */
  signal?: AbortSignal
}

const rememberedLines = 12

/**
 * Starts a supervisor, which is a small process with one server as its child (see `keepServer`), and waits until the server
 * is ready. The supervisor is detached, so that a Ctrl-C at the terminal does not reach it, and stops its server when this
 * process closes the pipe to it or dies.
 */
export async function startSupervisor(
  [command = '', ...parameters]: readonly string[],
  { log, signal, ...account }: SupervisorOptions,
): Promise<Supervisor> {
  const supervisor = spawn(command, parameters, {
    ...account,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    // Not this process's environment: a debugger's port, a preloaded module or another locale would reach the server.
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  })
  // The supervisor may end before it has read the end of its input.
  supervisor.stdin.on('error', () => {})

  const exited = new Promise<Exit>((resolve) => {
    supervisor.once('exit', (code, signal) => resolve({ code, signal }))
    supervisor.once('error', () => resolve({ code: null, signal: null }))
  })
  const failedToStart = new Promise<SupervisorReport>((resolve) => {
    supervisor.once('error', (error) => resolve({ error: error.message }))
  })
  const closed = new Promise<void>((resolve) => supervisor.once('close', () => resolve()))

  const lastLines: string[] = []
  createInterface(supervisor.stderr).on('line', (line) => {
    lastLines.splice(0, lastLines.length - rememberedLines + 1)
    lastLines.push(line)
    log(line)
  })

  const breakOff = () => void supervisor.stdin.end()
  if (signal?.aborted) breakOff()
  signal?.addEventListener('abort', breakOff)
  const report = await Promise.race([failedToStart, firstReport(supervisor.stdout, log)])
  signal?.removeEventListener('abort', breakOff)
  if ('error' in report) {
    supervisor.stdin.end()
    // The server's last output arrives on another pipe than the report and usually has more detail.
    await Promise.race([closed, ...(signal?.aborted ? [] : [delay(1_000, undefined, { ref: false })])])
    throw new Error([report.error, ...lastLines.map((line) => `  ${line}`)].join('\n'))
  }

  return {
    ...report.ready,
    exited,
    async stop() {
      supervisor.stdin.end()
      await exited
    },
  }
}

/** The first line reports whether the server started; a later line reports why it ended. */
function firstReport(output: Readable, log: (line: string) => void): Promise<SupervisorReport> {
  return new Promise((resolve) => {
    createInterface(output)
      .once('line', (line) => resolve(JSON.parse(line) as SupervisorReport))
      .on('line', (line) => {
        const report = JSON.parse(line) as SupervisorReport
        if ('error' in report) log(report.error)
      })
      .once('close', () => resolve({ error: 'The supervisor of the server ended without a message.' }))
  })
}
