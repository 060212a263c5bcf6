import type { StdioOptions } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'

const closeOnExec = 0o2000000

let nothing: number | undefined

/**
 * The descriptors of a sandbox process: its program on 0, error output on 2, frames on 3. Each further descriptor that
 * this process has inherited and would pass on is replaced by an empty file.
 */
export function sandboxDescriptors(): StdioOptions {
  const descriptors: (number | 'pipe' | 'ignore')[] = ['pipe', 'ignore', 'pipe', 'pipe']
  for (const inherited of inheritedDescriptors()) {
    while (descriptors.length <= inherited) descriptors.push('ignore')
    descriptors[inherited] = nothing ??= openSync('/dev/null', 'r')
  }
  return descriptors
}

/** The descriptors that child processes would inherit, except for the first four. Known on Linux only. */
function inheritedDescriptors(): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((descriptor) => descriptor > 3 && isPassedOn(descriptor))
}

function isPassedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The descriptor with which the folder was read is closed by now.
    return false
  }
}
