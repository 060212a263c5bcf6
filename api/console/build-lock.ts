import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const betweenLooksMilliseconds = 200

/**
 * Waits until no other process of this machine holds the lock file, and holds it until it is disposed. A process that
 * ended without giving it back holds it no longer.
 */
export async function takeTurn(path: string): Promise<AsyncDisposable> {
  while (!(await take(path))) {
    const holder = await holderOf(path)
    if (holder === undefined || !isAlive(holder)) await rm(path, { force: true })
    else await pause(betweenLooksMilliseconds)
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

/** Undefined when it was given back meanwhile. */
async function holderOf(path: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  // Between its making and its writing the file is empty.
  return text === undefined ? undefined : text === '' ? process.pid : Number(text)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
