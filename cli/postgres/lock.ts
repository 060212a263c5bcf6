import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { postgresFiles } from './files.ts'
import { findProcess, type RunningProcess } from '../../shared/process/find-process.ts'

const pollMilliseconds = 50
const patienceMilliseconds = 20_000

/**
 * Ensures that no server runs on this directory before another one starts there.
 *
 * - A server whose supervisor and supervisor's parent live: throws an error that names the server and the parent.
 * - A server whose supervisor's parent died: the supervisor is stopping it, so this function waits.
 * - A server without a supervisor (it was killed): this function stops it.
 *
 * PostgreSQL itself removes the lock file of a process that has exited. It does not detect that another program has
 * this process id now, as is usual in containers.
 *
 * @returns the process id in the lock file, when it belongs to another program
 */
export async function freeDirectory(directory: string, log: (line: string) => void): Promise<number | undefined> {
  const started = Date.now()
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']
  let nextSignalAt = 0

  for (;;) {
    const server = await findHolder(directory)
    if (server === undefined) return undefined
    if (!server.commandLine.includes(postgresFiles(directory).data)) return server.pid

    const supervisor = await findProcess(server.parent)
    if (supervisor?.commandLine.includes(supervisorName)) {
      const owner = await findOwner(supervisor)
      if (owner) throw new Error(inUse(directory, server, owner))
    } else if (Date.now() >= nextSignalAt && signals.length > 0) {
      log(`PostgreSQL (process ${server.pid}) still runs on ${directory} after an earlier start: stopping it.`)
      signalServer(directory, server, signals.shift()!)
      nextSignalAt = Date.now() + patienceMilliseconds
    }
    if (Date.now() - started > 2 * patienceMilliseconds + 5_000) {
      throw new Error(`PostgreSQL (process ${server.pid}) still runs on ${directory} and does not stop. Kill it first.`)
    }
    await delay(pollMilliseconds)
  }
}

/** @throws Error naming the owner, when a server with an owner runs on this directory */
export async function assertNotInUse(directory: string): Promise<void> {
  const server = await findHolder(directory)
  const supervisor = server && (await findProcess(server.parent))
  const owner = supervisor && (await findOwner(supervisor))
  if (owner) throw new Error(inUse(directory, server, owner))
}

/** The command line of a supervisor names its parent, so that other processes can check whether the parent lives. */
export function supervisorArguments(script: string, directory: string): string[] {
  return [script, directory, `--parent=${process.pid}`]
}

/** Without its extension: the repository has TypeScript, the package JavaScript. */
const supervisorName = 'postgres-process.'

async function findHolder(directory: string): Promise<RunningProcess | undefined> {
  const lines = await readFile(postgresFiles(directory).lock, 'utf8').catch(() => '')
  const pid = Number.parseInt(lines, 10)
  return Number.isNaN(pid) ? undefined : findProcess(pid)
}

/** The process that started a supervisor; undefined after its death, when the supervisor has another parent. */
async function findOwner(supervisor: RunningProcess): Promise<RunningProcess | undefined> {
  const parent = /--parent=(\d+)/.exec(supervisor.commandLine)?.[1]
  return Number(parent) === supervisor.parent ? findProcess(supervisor.parent) : undefined
}

function signalServer(directory: string, server: RunningProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(server.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return
    throw new Error(
      `PostgreSQL (process ${server.pid}) still runs on ${directory} after an earlier start, and stopping it failed. ` +
        `Stop it first: kill -INT ${server.pid}`,
      { cause: error },
    )
  }
}

function inUse(directory: string, server: RunningProcess, owner: RunningProcess): string {
  return (
    `${directory} is in use: PostgreSQL (process ${server.pid}) runs there for process ${owner.pid} ` +
    `(${owner.commandLine}). Stop that process first, or use another directory.`
  )
}
