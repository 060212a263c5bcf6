import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findAncestry, hasLostLauncher } from '#shared/process/launchers.ts'
import { findProcess } from '#shared/process/find-process.ts'

/** What a start leaves in its data folder while it runs, for the next one. */
interface StartRecord {
  /** The start itself first, then its api and its worker. The command line tells each from a later one of its id. */
  processes: { pid: number; commandLine: string }[]
  launchers: readonly number[]
  isStopping: boolean
}

/** Longer than the processes of a start may take to stop. */
const patienceMilliseconds = 90_000
const pollMilliseconds = 100

/**
 * Waits for an earlier start on this data folder that is on its way out: one that was told to stop, that lost its
 * launcher, or that was killed and whose processes are stopping. One that is wanted is not waited for.
 *
 * @returns whether the folder is free; if not, the port and the database say whose they are
 * @throws Error when it does not end
 */
export async function untilFormerStartGone(directory: string, signal: AbortSignal): Promise<boolean> {
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
      throw new Error(`An earlier start on ${directory} does not end: kill ${alive.join(' ')}, then start again`)
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
  /** Says that this start is ending. */
  stopping(): Promise<void>
  /** Says that it has ended. */
  remove(): Promise<void>
}

/** Records this start in its data folder. */
export async function recordStart(directory: string): Promise<OwnRecord> {
  const { launchers } = await findAncestry()
  const record: StartRecord = { processes: [], launchers, isStopping: false }
  let written = Promise.resolve()
  // One at a time: they share the draft.
  const write = () => (written = written.then(writeNow))
  const writeNow = async () => {
    const draft = `${recordFile(directory)}.${process.pid}`
    await writeFile(draft, JSON.stringify(record))
    await rename(draft, recordFile(directory))
  }
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

/** The processes of a start that are there still. In a new container this process may have the id of one. */
async function aliveOf(record: StartRecord | undefined): Promise<number[]> {
  const found = await Promise.all(
    (record?.processes ?? []).map(async ({ pid, commandLine }) => {
      const isThere = pid !== process.pid && (await findProcess(pid))?.commandLine === commandLine
      return isThere ? [pid] : []
    }),
  )
  return found.flat()
}
