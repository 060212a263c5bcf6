import { readdir, readFile } from 'node:fs/promises'

/** Linux counts processor time in hundredths of a second, whatever the kernel's own tick. */
const ticksPerSecond = 100

interface Process {
  parent: number
  /** The process's own milliseconds. */
  own: number
  /** Milliseconds of its children that have ended. */
  gone: number
}

/** Counts of processes since their start, read at one moment. */
export interface ByProcess {
  /** The count of the process itself. */
  own(pid: number): number
  /** The count of its descendants. */
  below(pid: number): number
}

/** Processor time in milliseconds, with that of descendants that have ended. */
export type ProcessorTimes = ByProcess

/** Reads the processor times of all processes. Undefined on other systems than Linux. */
export async function readProcessorTimes(): Promise<ProcessorTimes | undefined> {
  if (process.platform !== 'linux') return undefined
  const processes = new Map<number, Process>()
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    // A process may end before it is read.
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
  // The second field is the program's name in parentheses, which may contain any character; the third is the state.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const milliseconds = (index: number) => (Number(fields[index]) / ticksPerSecond) * 1000
  return {
    parent: Number(fields[1]),
    own: milliseconds(11) + milliseconds(12),
    gone: milliseconds(13) + milliseconds(14),
  }
}
