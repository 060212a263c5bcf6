import { readdir, readFile } from 'node:fs/promises'

/** Linux counts processor time in hundredths of a second, whatever the kernel's own tick is. */
const ticksPerSecond = 100

interface Process {
  parent: number
  /** Milliseconds of its own. */
  own: number
  /** Milliseconds of children that are gone. */
  gone: number
}

/** Milliseconds of processor time that processes have taken since they started, read at one moment. */
export interface ProcessorTimes {
  /** A process's own. */
  own(pid: number): number
  /** Those of the processes below it, alive or gone. */
  below(pid: number): number
}

/** Reads the processor times of all processes. Undefined where the system does not tell: anywhere but on Linux. */
export async function readProcessorTimes(): Promise<ProcessorTimes | undefined> {
  if (process.platform !== 'linux') return undefined
  const processes = new Map<number, Process>()
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    // Some are gone before they are read.
    const stat = Number.isInteger(pid) && (await readFile(`/proc/${name}/stat`, 'latin1').catch(() => undefined))
    if (stat) processes.set(pid, parse(stat))
  }
  const below = (pid: number): number => {
    let sum = processes.get(pid)?.gone ?? 0
    for (const [child, { parent, own }] of processes) if (parent === pid) sum += own + below(child)
    return sum
  }
  return { own: (pid) => processes.get(pid)?.own ?? 0, below }
}

function parse(stat: string): Process {
  // The second field is the program's name in parentheses, which may hold anything; the third is the state.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const milliseconds = (index: number) => (Number(fields[index]) / ticksPerSecond) * 1000
  return {
    parent: Number(fields[1]),
    own: milliseconds(11) + milliseconds(12),
    gone: milliseconds(13) + milliseconds(14),
  }
}
