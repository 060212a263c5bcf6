import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findAncestry, hasLostLauncher } from '#shared/process/launchers.ts'
import { findProcess } from '#shared/process/find-process.ts'
import { replaceFile } from '../replace-file.ts'

/** The record of a running start in its data folder, for the next start. */
interface StartRecord {
  /** The start itself, then its worker and api. The command line shows whether a process id belongs to another program now. */
  processes: { pid: number; commandLine: string }[]
  launchers: readonly number[]
  isStopping: boolean
}

/** Longer than the processes of a start take to stop. */
const patienceMilliseconds = 90_000
const pollMilliseconds = 100

/**
 * Waits until an earlier start on this data folder has ended, if it is about to end: it received a stop signal, it lost
 * its launcher, or it was killed and its processes are stopping. Returns at once if the earlier start keeps running.
 *
 * @returns whether the folder is free; if not, the later checks of port and database report the process that uses them
 * @throws Error when the earlier start does not end
 */
export async function untilFormerStartExited(directory: string, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + patienceMilliseconds
  for (;;) {
    signal.throwIfAborted()
    const former = await readRecord(directory)
    const alive = await aliveOf(former)
    if (!former || alive.length === 0) return true
    const [pid] = alive
    const { launchers, isStopping } = former
    if (pid === former.processes[0]?.pid && !isStopping && !(await hasLostLauncher({ pid: pid!, launchers }))) {
      return false
    }
    if (Date.now() > deadline) {
      throw new Error(`An earlier start on ${directory} does not end: run kill ${alive.join(' ')}, then start again`)
    }
    await delay(pollMilliseconds)
  }
}

/** Whether a start runs on this data folder. */
export async function isStartRunning(directory: string): Promise<boolean> {
  const record = await readRecord(directory)
  const [pid] = await aliveOf(record)
  return pid !== undefined && pid === record?.processes[0]?.pid
}

export interface OwnRecord {
  /** Adds processes that this start has started. */
  add(pids: readonly number[]): Promise<void>
  /** Records that this start is stopping. */
  stopping(): Promise<void>
  /** Removes the record after the end. */
  remove(): Promise<void>
}

/** Records this start in its data folder. */
export async function recordStart(directory: string): Promise<OwnRecord> {
  const { launchers } = await findAncestry()
  const record: StartRecord = { processes: [], launchers, isStopping: false }
  let written = Promise.resolve()
  // Writes are serialized because they share the draft file.
  const write = () => (written = written.then(() => replaceFile(recordFile(directory), JSON.stringify(record))))
  const add: OwnRecord['add'] = async (pids) => {
    for (const pid of pids) {
      record.processes.push({ pid, commandLine: (await findProcess(pid))?.commandLine ?? '' })
    }
    await write()
  }
  await add([process.pid])
  return {
    add,
    async stopping() {
      record.isStopping = true
      await write()
    },
    remove: () => rm(recordFile(directory), { force: true }),
  }
}

function recordFile(directory: string): string {
  return join(directory, 'start.json')
}

async function readRecord(directory: string): Promise<StartRecord | undefined> {
  const text = await readFile(recordFile(directory), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as StartRecord)
}

/** The processes of a start that still run. This process is excluded: in a new container it may have one of their ids. */
async function aliveOf(record: StartRecord | undefined): Promise<number[]> {
  const found = await Promise.all(
    (record?.processes ?? []).map(async ({ pid, commandLine }) => {
      const isSame = pid !== process.pid && (await findProcess(pid))?.commandLine === commandLine
      return isSame ? [pid] : []
    }),
  )
  return found.flat()
}
