import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const betweenLooksMilliseconds = 200
const writtenWithinMilliseconds = 10_000

/**
 * Waits until no other process of this machine holds the lock file, and holds it until it is disposed. A process that
 * ended without giving it back holds it no longer.
 */
export async function takeTurn(path: string): Promise<AsyncDisposable> {
  while (!(await take(path))) {
    if (await isHeld(path)) await pause(betweenLooksMilliseconds)
    else await rm(path, { force: true })
  }
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) }
}

async function take(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function isHeld(path: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(path, 'utf8'))
    const { mtimeMs: takenAt } = await stat(path)
    // Between its making and its writing the file is empty.
    if (pid === 0) return Date.now() - takenAt < writtenWithinMilliseconds
    // In a container that has been started again, the process that ended had this one's id.
    return pid === process.pid ? takenAt >= performance.timeOrigin : isAlive(pid)
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
