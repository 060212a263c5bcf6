import { totalmem } from 'node:os'
import { megabyte } from '../units.ts'

/** The worker itself uses 110 MB when idle and 140 when busy; the rest is for temporary allocations. */
const reservedMegabytes = 192
/** Enough for 170 small bots, and together with the worker itself less than 512 MB. */
const minMegabytes = 320
/** One thread cannot serve more warm isolates than a process of 1 GB holds. */
const maxPerProcess = 1024
const minTotalMegabytes = 128

/**
 * The default memory of all sandbox processes of a worker together, in megabytes: half of the machine, or more on a
 * small machine, while the worker keeps its own share.
 *
 * @param machineBytes the memory that this process may use, its container's limit included
 */
export function sandboxMegabytes(processes: number, machineBytes = usableBytes()): number {
  const machine = machineBytes / megabyte
  const share = Math.min(machine - reservedMegabytes, Math.max(minMegabytes, machine / 2), processes * maxPerProcess)
  return Math.max(minTotalMegabytes, Math.floor(share))
}

/** Without a container's limit, Node reports none or an absurdly high one. */
function usableBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
