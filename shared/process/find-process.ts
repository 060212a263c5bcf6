import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface RunningProcess {
  readonly pid: number
  readonly parent: number
  /** The process group, which processes that a shell, npm or a supervisor starts together have in common. */
  readonly group: number
  readonly commandLine: string
}

/** The running process with this id; undefined when there is none. */
export async function findProcess(pid: number): Promise<RunningProcess | undefined> {
  try {
    return process.platform === 'linux' ? await fromProc(pid) : await fromPs(pid)
  } catch {
    return undefined
  }
}

/** Slim images have no `ps`, so this reads /proc. */
async function fromProc(pid: number): Promise<RunningProcess | undefined> {
  const [statistics, commandLine] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
  ])
  // The second field is the program's name in parentheses, and may contain anything.
  const [state, parent, group] = statistics.slice(statistics.lastIndexOf(')') + 2).split(' ')
  // A zombie has exited; only its parent has not read the exit status.
  if (state === 'Z') return undefined
  return { pid, parent: Number(parent), group: Number(group), commandLine: commandLine.replaceAll('\0', ' ').trim() }
}

async function fromPs(pid: number): Promise<RunningProcess | undefined> {
  const { stdout } = await run('ps', ['-o', 'ppid=', '-o', 'pgid=', '-o', 'command=', '-p', String(pid)])
  const [, parent, group, commandLine] = /^\s*(\d+)\s+(\d+)\s+(.*)$/m.exec(stdout) ?? []
  return commandLine === undefined ? undefined : { pid, parent: Number(parent), group: Number(group), commandLine }
}
