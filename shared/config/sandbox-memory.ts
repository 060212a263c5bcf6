import { totalmem } from 'node:os'

const megabyte = 1024 * 1024
/** The worker itself holds 110 MB when idle and 140 when busy; the rest is for what comes and goes. */
const ownMegabytes = 192
/** Room for 170 small bots; together with the worker itself less than 512 MB. */
const minMegabytes = 320
/** More warm isolates than a process of 1 GB holds, its one thread does not serve. */
const maxPerProcess = 1024
const smallestMegabytes = 128

/**
 * What the sandbox processes of a worker hold together unless the operator says otherwise, in megabytes: half of the
 * machine or more where that is little, but no more than leaves room for the worker.
 *
 * @param machineBytes the memory that this process may use, its container's limit counted
 */
export function sandboxMegabytes(processes: number, machineBytes = usableBytes()): number {
  const machine = machineBytes / megabyte
  const share = Math.min(machine - ownMegabytes, Math.max(minMegabytes, machine / 2), processes * maxPerProcess)
  return Math.max(smallestMegabytes, Math.floor(share))
}

/** Without a container's limit, Node tells of none, or of an absurd one. */
function usableBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
