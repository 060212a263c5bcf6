import { readFileSync } from 'node:fs'

/** How many files and connections this process may have open; Infinity where the system does not tell. */
export function maxOpenFiles(): number {
  if (process.platform !== 'linux') return Infinity
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return limit === undefined ? Infinity : Number(limit)
}
