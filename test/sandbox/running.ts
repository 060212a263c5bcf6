import { readFileSync } from 'node:fs'

/** Whether a process is there and not dead. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !isZombie(pid)
}

/** Whether a process is dead, though nobody has asked yet what it died of. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === true
  } catch {
    return true
  }
}
